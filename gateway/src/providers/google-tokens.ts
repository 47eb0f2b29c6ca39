import { sign } from "node:crypto";
import type { Failure, Provider } from "#core/index.ts";
import { numberOf, parseObject, textOf } from "#protocols/index.ts";
import { refusalObject, unusableCredential } from "./classify-by-status.ts";
import type { TokenExchange } from "./kind.ts";
import { type OutboundDraft, outboundDraft } from "./outbound-draft.ts";

/**
 * Exchanges a service account's key for an access token with a signed JWT (RS256, RFC 7523). An api_key that is not JSON is
 * an access token already.
 */
export const googleTokens: TokenExchange = {
  request: (provider, now) => {
    const key = serviceAccount(provider);
    return key === null ? null : tokenRequest(provider, key, now);
  },
  read: (status, body) => {
    const answer = refusalObject(body);
    const token = textOf(answer["access_token"]);
    if (status !== 200 || token === null || token === "") {
      throw unusableCredential("Google returned no access token for the provider's service account.");
    }
    return { token, expiresInMs: (numberOf(answer["expires_in"]) ?? 3_600) * 1_000 };
  },
};

function tokenRequest(provider: Provider, key: ServiceAccount, now: number): OutboundDraft {
  const assertion = signedJwt(key, Math.floor(now / 1_000));
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
  return outboundDraft(provider, key.tokenUri, { method: "POST", headers, body: encoder.encode(form.toString()) });
}

interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | null;
  readonly privateKey: string;
  readonly tokenUri: string;
}

/** null: the secret is a token, or missing. */
function serviceAccount(provider: Provider): ServiceAccount | null {
  const text = provider.secret?.reveal().trim() ?? "";
  if (!text.startsWith("{")) return null;
  const key = parseObject(text) ?? {};
  const email = textOf(key["client_email"]);
  const privateKey = textOf(key["private_key"]);
  if (email === null || privateKey === null) throw unusable();
  const tokenUri = textOf(key["token_uri"]) ?? "https://oauth2.googleapis.com/token";
  return { email, privateKey, tokenUri, keyId: textOf(key["private_key_id"]) };
}

function signedJwt({ email, keyId, privateKey, tokenUri }: ServiceAccount, nowSeconds: number): string {
  const header = { alg: "RS256", typ: "JWT", ...(keyId === null ? {} : { kid: keyId }) };
  const claims = {
    iss: email,
    scope: "https://www.googleapis.com/auth/cloud-platform",
    aud: tokenUri,
    iat: nowSeconds,
    exp: nowSeconds + 3_600,
  };
  const unsigned = `${base64Url(JSON.stringify(header))}.${base64Url(JSON.stringify(claims))}`;
  try {
    const der = Buffer.from(privateKey.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
    const signature = sign("sha256", encoder.encode(unsigned), { key: der, format: "der", type: "pkcs8" });
    return `${unsigned}.${signature.toString("base64url")}`;
  } catch {
    // The error may quote the key.
    throw unusable();
  }
}

function unusable(): Failure {
  return unusableCredential("The provider's service account key cannot be used.");
}

function base64Url(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

const encoder = new TextEncoder();
