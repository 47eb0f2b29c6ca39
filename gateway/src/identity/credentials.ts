import { bounds, Failure, type HeaderReader } from "#core/index.ts";
import { looksLikeAccessToken } from "./agents/access-tokens.ts";

/**
 * The caller's key: `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`, on every endpoint alike. Several may be
 * sent when they agree (some clients do); different keys are refused, since two readers could disagree on who is calling.
 */
export function readCredential(headers: HeaderReader): string {
  const authorization = headers.get("authorization");
  const googleKey = headers.get("x-goog-api-key");
  const apiKey = headers.get("x-api-key") ?? googleKey;
  const bearer = authorization === null ? null : readBearer(authorization, apiKey !== null);
  if ((bearer !== null && apiKey !== null && bearer !== apiKey) || (googleKey !== null && googleKey !== apiKey)) {
    throw new Failure(
      "conflicting_credentials",
      "The headers carry two different keys (Authorization, x-api-key). Send one, or the same in both.",
    );
  }
  const credential = bearer ?? apiKey;
  if (credential === null || credential === "") {
    throw new Failure(
      "invalid_api_key",
      "No API key was sent. Send it as `Authorization: Bearer <key>`, `x-api-key: <key>` or `x-goog-api-key: <key>`.",
    );
  }
  const lengthMax = looksLikeAccessToken(credential) ? bounds.accessTokenBytesMax : bounds.credentialBytesMax;
  if (credential.length > lengthMax) throw unknownKey();
  return credential;
}

export function unknownKey(): Failure {
  return new Failure("invalid_api_key", "The API key is not known to this gateway.");
}

/** Another scheme is a mistake, unless the key came in the other header and this one is for somebody on the way. */
function readBearer(authorization: string, otherwise: boolean): string | null {
  const scheme = authorization.slice(0, 7);
  if (scheme !== "Bearer " && scheme.toLowerCase() !== "bearer ") {
    if (otherwise) return null;
    throw new Failure("invalid_api_key", "The Authorization header must be `Bearer <key>`.");
  }
  return authorization.slice(7).trim();
}
