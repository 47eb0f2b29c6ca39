import { bounds, Failure } from "#core/index.ts";
import { foldCase } from "#protocols/index.ts";

/** Adds the caller's query to an upstream's URL, without credentials. Throws Failure invalid_request if the query names a model. */
export function withQuery(url: string, query: string): string {
  if (query === "") return url;
  checkQuery(query);
  const forwarded = query
    .split("&")
    .filter((pair) => pair !== "" && isForwarded(parameterName(pair)))
    .join("&");
  if (forwarded === "") return url;
  return url.includes("?") ? `${url}&${forwarded}` : `${url}?${forwarded}`;
}

function isForwarded(name: string | null): boolean {
  if (name === null) return true;
  if (!modelParameters.has(name)) return !isCredential(name);
  throw new Failure("invalid_request", "Name the model in the body, not in the query.", {
    param: name,
  });
}

/** For pass-through: a credential in the query is refused, because logs may show it. */
export function withPassThroughQuery(url: string, query: string): string {
  if (query === "") return url;
  checkQuery(query);
  for (const pair of query.split("&")) {
    const name = parameterName(pair);
    if (name === null) throw new Failure("invalid_request", "The query of the URL is not valid percent-encoding.");
    if (!isCredential(name)) continue;
    throw new Failure(
      "invalid_request",
      `The query must not contain "${name.slice(0, 64)}". Send your gateway key in a header; the gateway adds the provider's key.`,
      { param: name.slice(0, 64) },
    );
  }
  return `${url}?${query}`;
}

/** Without this check an invalid query would be reported as an unreachable upstream. */
function checkQuery(query: string): void {
  if (query.length <= bounds.queryBytesMax && sendable.test(query)) return;
  throw new Failure("invalid_request", "The query of the URL cannot be forwarded: it is too long or not encoded.");
}

/** RFC 3986, 3.4. */
const sendable = /^[!$-;=?-Z_a-z~[\]|{}^`%]*$/;

function parameterName(pair: string): string | null {
  try {
    return foldCase(decodeURIComponent((pair.split("=", 1)[0] ?? "").replaceAll("+", " "))).trim();
  } catch {
    return null;
  }
}

const modelParameters: ReadonlySet<string> = new Set(["model", "models", "fallbacks"]);

function isCredential(name: string): boolean {
  return credentialParameters.has(name) || credentialPrefixes.some((beginning) => name.startsWith(beginning));
}

/** Parameters with a key, token or signature, or that select another account or method. Folded. */
const credentialParameters: ReadonlySet<string> = new Set(
  [
    "key",
    "api_key",
    "api-key",
    "apikey",
    "x-api-key",
    "x-goog-api-key",
    "subscription-key",
    "ocp-apim-subscription-key",
    "access_token",
    "oauth_token",
    "auth_token",
    "bearer_token",
    "id_token",
    "token",
    "authorization",
    "password",
    "client_secret",
    "signature",
    "sig",
    "quotauser",
    "userproject",
    "$userproject",
    "x-http-method-override",
    "$httpmethod",
    "_method",
  ].map(foldCase),
);

const credentialPrefixes: readonly string[] = ["x-amz-", "x-goog-"];
