import { wholeOf } from "#bodies/index.ts";
import { anonymousOwner, bounds, Failure, retryAfter } from "#core/index.ts";
import type { IssuedTokens } from "#identity/index.ts";
import { type BodyRules, readPieces, withPlace } from "../../body.ts";
import type { Endpoint, Exchange } from "../../dependencies.ts";
import { originOf } from "../../request-parts.ts";

/*
 * Sign-in of coding agents: the gateway contract of Claude Code, version 1, which works for any client of RFC 8628. The recorded
 * behavior of the vendor's own server and client is in docs/agent-sign-in.md.
 */
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const refreshGrant = "refresh_token";

/** The sender is not authenticated. */
const formBody: BodyRules = { bytesMax: bounds.agentFormBytesMax, packed: false };

function readBody(exchange: Exchange): Promise<Uint8Array> {
  return withPlace(exchange, anonymousOwner(exchange.address), async (place) =>
    wholeOf(await readPieces(exchange, place, formBody)),
  );
}

/** RFC 6749, 3.2: a repeated field is an error, and an empty one counts as missing. */
async function readForm(exchange: Exchange): Promise<ReadonlyMap<string, string>> {
  const body = await readBody(exchange);
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

/** GET: the endpoints of the authorization server (RFC 8414). */
export const getMetadata: Endpoint = (exchange) => {
  const base = originOf(exchange);
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
  return agentAnswer(200, JSON.stringify(metadata), { "content-type": "application/json" });
};

/** POST: a code for the device, and one that the user confirms in the console. The body is ignored. */
export const authorizeDevice: Endpoint = withOAuthErrors(async (exchange) => {
  const { dependencies } = exchange;
  await readBody(exchange);
  const start = await dependencies.agentSignIn.begin({
    client: exchange.request.headers.get("user-agent") ?? "",
    ip: exchange.address,
  });
  const page = `${dependencies.consoleUrl() ?? originOf(exchange)}/console/device`;
  return oauthAnswer(200, {
    device_code: start.deviceCode,
    user_code: start.userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${start.userCode}`,
    expires_in: start.expiresIn,
    interval: start.interval,
  });
});

/** POST: tokens for an approved device, or for a refresh token, which is replaced. */
export const issueTokens: Endpoint = withOAuthErrors(async (exchange) => {
  const { agentSignIn } = exchange.dependencies;
  const form = await readForm(exchange);
  const origin = originOf(exchange);
  switch (form.get("grant_type")) {
    case undefined:
      throw missing("grant_type");
    case deviceGrant: {
      const polled = await agentSignIn.poll(required(form, "device_code"), origin);
      if (typeof polled !== "string") return tokenAnswer(polled);
      return oauthAnswer(polled === "too_soon" ? 429 : 400, { error: pollErrors[polled] });
    }
    case refreshGrant: {
      const issued = await agentSignIn.refresh(required(form, "refresh_token"), origin);
      return issued === null ? oauthAnswer(401, { error: "invalid_grant" }) : tokenAnswer(issued);
    }
    default:
      return oauthAnswer(400, { error: "unsupported_grant_type" });
  }
});

/** RFC 8628, 3.5. */
const pollErrors = {
  pending: "authorization_pending",
  too_soon: "slow_down",
  denied: "access_denied",
  unknown: "expired_token",
} as const;

/** POST: ends a sign-in by either of its tokens. Always 200, also for an unknown token (RFC 7009). */
export const revokeToken: Endpoint = withOAuthErrors(async (exchange) => {
  const token = required(await readForm(exchange), "token");
  await exchange.dependencies.agentSignIn.revoke(token, exchange.address);
  return oauthAnswer(200, null);
});

function required(form: ReadonlyMap<string, string>, field: string): string {
  const value = form.get(field);
  if (value === undefined) throw missing(field);
  return value;
}

function missing(field: string): Failure {
  return new Failure("invalid_request", `${field} is missing.`);
}

function tokenAnswer({ accessToken, refreshToken, expiresIn }: IssuedTokens): Response {
  const token = { access_token: accessToken, refresh_token: refreshToken, token_type: "Bearer", expires_in: expiresIn };
  return oauthAnswer(200, token);
}

type Headers = Readonly<Record<string, string>>;

/** JSON that is not cached. */
function oauthAnswer(status: number, body: object | null, headers: Headers = {}): Response {
  return agentAnswer(status, body === null ? null : JSON.stringify(body), {
    ...(body === null ? {} : { "content-type": "application/json" }),
    "cache-control": "no-store",
    pragma: "no-cache",
    ...headers,
  });
}

/** An answer to an agent or a browser, except for model calls. */
export function agentAnswer(status: number, body: string | null, headers: Headers = {}): Response {
  const common = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
  return new Response(body, { status, headers: { ...common, ...headers } });
}

/** OAuth clients understand only OAuth's own error shape (RFC 6749, 5.2). */
function withOAuthErrors(endpoint: Endpoint): Endpoint {
  return async (exchange) => {
    try {
      return await endpoint(exchange);
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status >= 500 || thrown.code === "client_closed") throw thrown;
      const { code, message: error_description, retryAfterMs = 0 } = thrown;
      return code === "rate_limit_exceeded"
        ? oauthAnswer(429, { error: "slow_down", error_description }, retryAfter(retryAfterMs))
        : oauthAnswer(400, { error: "invalid_request", error_description });
    }
  };
}
