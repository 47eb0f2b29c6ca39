import { createPrivateKey, sign } from "node:crypto";
import type { Failure } from "#core/index.ts";
import { type JsonObject, textOf } from "#protocols/index.ts";
import type { CredentialContext } from "../context.ts";
import type { Issued } from "../issued.ts";
import { base64Url, readAccessToken } from "../oauth.ts";
import { unusableCredential } from "../unusable.ts";

export const cloudPlatformScope = "https://www.googleapis.com/auth/cloud-platform";

/** Exchanges a service account's key for an access token with a signed JWT (RS256, RFC 7523). */
export async function serviceAccountToken(context: CredentialContext, document: JsonObject): Promise<Issued<string>> {
  const key = readKey(document);
  const assertion = signedJwt(key, Math.floor(context.now() / 1_000));
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const answer = await context.send({
    to: "Google's token service",
    method: "POST",
    url: key.tokenUri,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
  });
  const issued = readAccessToken(answer);
  if (issued !== null) return issued;
  throw unusableCredential("Google returned no access token for the provider's service account.");
}

interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | null;
  readonly privateKey: string;
  readonly tokenUri: string;
}

function readKey(document: JsonObject): ServiceAccount {
  const email = textOf(document["client_email"]);
  const privateKey = textOf(document["private_key"]);
  if (email === null || privateKey === null) throw unusable();
  const tokenUri = textOf(document["token_uri"]) ?? "https://oauth2.googleapis.com/token";
  return { email, privateKey, tokenUri, keyId: textOf(document["private_key_id"]) };
}

function signedJwt({ email, keyId, privateKey, tokenUri }: ServiceAccount, nowSeconds: number): string {
  const header = { alg: "RS256", typ: "JWT", ...(keyId === null ? {} : { kid: keyId }) };
  const claims = {
    iss: email,
    scope: cloudPlatformScope,
    aud: tokenUri,
    iat: nowSeconds,
    exp: nowSeconds + 3_600,
  };
  const unsigned = `${base64Url(JSON.stringify(header))}.${base64Url(JSON.stringify(claims))}`;
  try {
    const der = Buffer.from(privateKey.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
    const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    return `${unsigned}.${sign("sha256", Buffer.from(unsigned), key).toString("base64url")}`;
  } catch {
    // The error may quote the key.
    throw unusable();
  }
}

function unusable(): Failure {
  return unusableCredential("The provider's service account key cannot be used.");
}
