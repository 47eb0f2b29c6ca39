import { Failure } from "#core/index.ts";
import type { Endpoint, Exchange } from "../../dependencies.ts";

/** The errors that a device flow tells of (RFC 6749, 5.2; RFC 8628, 3.5). */
export type OAuthError =
  | "invalid_request"
  | "invalid_grant"
  | "unsupported_grant_type"
  | "authorization_pending"
  | "slow_down"
  | "access_denied"
  | "expired_token";

/** What a token endpoint says: JSON that nobody keeps and no page shows inside itself. */
export function oauthAnswer(
  { requestId }: Pick<Exchange, "requestId">,
  status: number,
  body: object | null,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(body === null ? null : JSON.stringify(body), {
    status,
    headers: {
      ...(body === null ? {} : { "content-type": "application/json" }),
      "cache-control": "no-store",
      pragma: "no-cache",
      "x-request-id": requestId,
      ...guardHeaders,
      ...headers,
    },
  });
}

/** On every answer that an agent or a browser gets beside calls of models. */
export const guardHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

export function oauthError(exchange: Exchange, status: number, error: OAuthError, description?: string): Response {
  return oauthAnswer(exchange, status, {
    error,
    ...(description === undefined ? {} : { error_description: description }),
  });
}

/** An endpoint whose callers know OAuth's errors alone: too many tries, or a request that cannot be read. */
export function inOAuth(endpoint: Endpoint): Endpoint {
  return async (dependencies, exchange) => {
    try {
      return await endpoint(dependencies, exchange);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      if (thrown.code === "rate_limit_exceeded") {
        const seconds = Math.max(1, Math.ceil((thrown.retryAfterMs ?? 0) / 1_000));
        const body = { error: "slow_down", error_description: thrown.message };
        return oauthAnswer(exchange, 429, body, { "retry-after": String(seconds) });
      }
      if (thrown.status >= 500 || thrown.code === "client_closed") throw thrown;
      return oauthError(exchange, 400, "invalid_request", thrown.message);
    }
  };
}
