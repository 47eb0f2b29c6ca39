import { wholeOf } from "#bodies/index.ts";
import { anonymousOwner, bounds, Failure } from "#core/index.ts";
import type { IssuedTokens } from "#identity/index.ts";
import { type BodyRules, readPieces } from "../../body.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../../dependencies.ts";
import { originOf } from "../../request-parts.ts";

/** From somebody who shows no key. */
const agentForm: BodyRules = { bytesMax: bounds.agentFormBytesMax, packed: false };

/** Reads whatever is sent, within a bound, and does not look at it. */
async function readAnything(dependencies: ApiDependencies, exchange: Exchange): Promise<Uint8Array> {
  const place = dependencies.memory.open(anonymousOwner(exchange.address()), "request");
  try {
    return wholeOf(await readPieces(dependencies, exchange, place, agentForm));
  } finally {
    place.release();
  }
}

/** The fields of a form. RFC 6749, 3.2: a field that is sent twice is an error; one that is empty counts as left out. */
async function readForm(dependencies: ApiDependencies, exchange: Exchange): Promise<ReadonlyMap<string, string>> {
  const body = await readAnything(dependencies, exchange);
  const type = exchange.request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new Failure("invalid_request", "The body must be application/x-www-form-urlencoded.");
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString("utf8"))) {
    if (fields.has(name)) throw new Failure("invalid_request", "A field was sent twice.");
    fields.set(name, value);
  }
  for (const [name, value] of fields) if (value === "") fields.delete(name);
  return fields;
}

/**
 * Sign-in of coding agents, as the contract of Claude Code for gateways has it (version 1) and any client of RFC 8628 can use it. What
 * was recorded of the vendor's own server and client stands in docs/agent-sign-in.md.
 */
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const refreshGrant = "refresh_token";

/** GET: where everything is (RFC 8414). */
export const getMetadata: Endpoint = (dependencies, exchange) => {
  const base = originOf(dependencies, exchange);
  const metadata = {
    issuer: base,
    device_authorization_endpoint: `${base}/oauth/device_authorization`,
    token_endpoint: `${base}/oauth/token`,
    revocation_endpoint: `${base}/oauth/revoke`,
    grant_types_supported: [deviceGrant, refreshGrant],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ["none"],
    scopes_supported: ["openid", "profile", "email"],
    gateway_protocol_version: 1,
  };
  return new Response(JSON.stringify(metadata), {
    headers: { "content-type": "application/json", "x-request-id": exchange.requestId, ...guardHeaders },
  });
};

/** POST: a code for the device, and one that its person confirms in the console. Nothing that is sent is needed. */
export const authorizeDevice: Endpoint = inOAuth(async (dependencies, exchange) => {
  await readAnything(dependencies, exchange);
  const start = await dependencies.agentSignIn.begin({
    client: exchange.request.headers.get("user-agent") ?? "",
    ip: exchange.address(),
  });
  const page = `${dependencies.consoleUrl() ?? originOf(dependencies, exchange)}/console/device`;
  return oauthAnswer(exchange, 200, {
    device_code: start.deviceCode,
    user_code: start.userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${start.userCode}`,
    expires_in: start.expiresIn,
    interval: start.interval,
  });
});

/** POST: tokens for a device that was let in, or for a refresh token, which is replaced. */
export const issueTokens: Endpoint = inOAuth(async (dependencies, exchange) => {
  const form = await readForm(dependencies, exchange);
  switch (form.get("grant_type")) {
    case undefined:
      return oauthError(exchange, 400, "invalid_request", "grant_type is missing.");
    case deviceGrant:
      return await byDeviceCode(dependencies, exchange, form.get("device_code"));
    case refreshGrant:
      return await byRefreshToken(dependencies, exchange, form.get("refresh_token"));
    default:
      return oauthError(exchange, 400, "unsupported_grant_type");
  }
});

async function byDeviceCode(
  dependencies: ApiDependencies,
  exchange: Exchange,
  deviceCode: string | undefined,
): Promise<Response> {
  if (deviceCode === undefined) return oauthError(exchange, 400, "invalid_request", "device_code is missing.");
  const polled = await dependencies.agentSignIn.poll(deviceCode, originOf(dependencies, exchange));
  return typeof polled === "string"
    ? oauthError(exchange, polled === "too_soon" ? 429 : 400, pollErrors[polled])
    : tokenAnswer(exchange, polled);
}

const pollErrors = {
  pending: "authorization_pending",
  too_soon: "slow_down",
  denied: "access_denied",
  unknown: "expired_token",
} as const;

async function byRefreshToken(
  dependencies: ApiDependencies,
  exchange: Exchange,
  refreshToken: string | undefined,
): Promise<Response> {
  if (refreshToken === undefined) return oauthError(exchange, 400, "invalid_request", "refresh_token is missing.");
  const issued = await dependencies.agentSignIn.refresh(refreshToken, originOf(dependencies, exchange));
  return issued === null ? oauthError(exchange, 401, "invalid_grant") : tokenAnswer(exchange, issued);
}

/** POST: ends a sign-in by either of its tokens (RFC 7009). Always 200: what is none of ours opens nothing. */
export const revokeToken: Endpoint = inOAuth(async (dependencies, exchange) => {
  const token = (await readForm(dependencies, exchange)).get("token");
  if (token === undefined) return oauthError(exchange, 400, "invalid_request", "token is missing.");
  await dependencies.agentSignIn.revoke(token, exchange.address());
  return oauthAnswer(exchange, 200, null);
});

function tokenAnswer(exchange: Exchange, issued: IssuedTokens): Response {
  return oauthAnswer(exchange, 200, {
    access_token: issued.accessToken,
    refresh_token: issued.refreshToken,
    token_type: "Bearer",
    expires_in: issued.expiresIn,
  });
}

/** The errors that a device flow tells of (RFC 6749, 5.2; RFC 8628, 3.5). */
type OAuthError =
  | "invalid_request"
  | "invalid_grant"
  | "unsupported_grant_type"
  | "authorization_pending"
  | "slow_down"
  | "access_denied"
  | "expired_token";

/** What a token endpoint says: JSON that nobody keeps and no page shows inside itself. */
function oauthAnswer(
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

function oauthError(exchange: Exchange, status: number, error: OAuthError, description?: string): Response {
  return oauthAnswer(exchange, status, {
    error,
    ...(description === undefined ? {} : { error_description: description }),
  });
}

/** An endpoint whose callers know OAuth's errors alone: too many tries, or a request that cannot be read. */
function inOAuth(endpoint: Endpoint): Endpoint {
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
