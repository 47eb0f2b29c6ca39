import { createHash, verify } from "node:crypto";
import { silentAnswer } from "../answer.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";

/**
 * Google's token endpoint: exchanges a signed assertion (RFC 7523) or a refresh token for an access token. Scripts apply to the
 * model `oauth-token`. With a public key, the assertion's signature is verified.
 */
export function oauthToken(publicKey: string | null): Dialect {
  return {
    id: "oauth-token",
    auxiliary: true,
    secret: true,
    matches: ({ method, path }) => method === "POST" && path.endsWith("/token"),
    read: (request) => readGrant(request, publicKey),
    headers: () => [["cache-control", "no-cache, no-store"]],
    error: ({ message, code, status }) =>
      JSON.stringify({
        error: code ?? (status < 500 ? "invalid_request" : "internal_failure"),
        error_description: message,
      }),
  };
}

function readGrant(request: SimulatorRequest, publicKey: string | null): Exchange {
  const form = formOf(request);
  const grant = form.get("grant_type");
  const subject = form.get("assertion") ?? form.get("refresh_token") ?? "";
  if (grant === "urn:ietf:params:oauth:grant-type:jwt-bearer") checkAssertion(subject, publicKey);
  else if (grant !== "refresh_token")
    throw new Refusal(400, `Invalid grant_type: ${grant}`, { code: "unsupported_grant_type" });
  else if (subject === "") throw new Refusal(400, "Missing required parameter: refresh_token");
  return {
    parsed: bareRequest("oauth-token"),
    ping: null,
    compose: () => silentAnswer(),
    whole: (head) =>
      JSON.stringify({
        access_token: `ya29.sim-${head.sequence}-${createHash("sha256").update(subject).digest("hex").slice(0, 16)}`,
        expires_in: head.script.expires_in ?? 3599,
        token_type: "Bearer",
      }),
    events: () => [],
    errorEvent: () => ({ data: "", tokens: 0 }),
  };
}

/** Clients send a form; Google also accepts JSON. */
function formOf(request: SimulatorRequest): URLSearchParams {
  const json = parseObject(request.body);
  if (json === null) return new URLSearchParams(Buffer.from(request.body).toString("utf8"));
  return new URLSearchParams(Object.entries(json).map(([name, value]): [string, string] => [name, stringOf(value)]));
}

function checkAssertion(assertion: string, publicKey: string | null): void {
  const [header = "", claims = "", signature = ""] = assertion.split(".");
  const head = partOf(header);
  const payload = partOf(claims);
  if (head === null || payload === null || signature === "") throw invalidGrant("Invalid JWT: it has no three parts.");
  if (head["alg"] !== "RS256") throw invalidGrant("Invalid JWT: the algorithm must be RS256.");
  const { iss, iat, exp } = payload;
  if (typeof iss !== "string" || typeof payload["aud"] !== "string")
    throw invalidGrant("Invalid JWT: iss and aud are required.");
  if (typeof iat !== "number" || typeof exp !== "number" || exp - iat > 3600 || exp * 1000 < Date.now()) {
    throw invalidGrant("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.");
  }
  if (publicKey === null) return;
  const signed = Buffer.from(`${header}.${claims}`);
  if (!verify("RSA-SHA256", signed, publicKey, Buffer.from(signature, "base64url"))) {
    throw invalidGrant("Invalid JWT Signature.");
  }
}

function partOf(text: string): JsonObject | null {
  return parseObject(Buffer.from(text, "base64url"));
}

function invalidGrant(message: string): Refusal {
  return new Refusal(400, message, { code: "invalid_grant" });
}
