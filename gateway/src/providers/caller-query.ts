import { bounds, Failure } from "#core/index.ts";
import { fold } from "#protocols/index.ts";

/**
 * An upstream's URL with the query of a call at an endpoint of ours, without credentials, which some clients send there. The query
 * must not name a model beside the one that was granted. Throws Failure invalid_request.
 */
export function withQuery(url: string, query: string): string {
  if (query === "") return url;
  checkQuery(query);
  const kept = query
    .split("&")
    .filter((pair) => pair !== "" && isForwarded(nameOf(pair)))
    .join("&");
  if (kept === "") return url;
  return url.includes("?") ? `${url}&${kept}` : `${url}?${kept}`;
}

function isForwarded(name: string | null): boolean {
  if (name === null) return true;
  if (!models.has(name)) return !isCredential(name);
  throw new Failure("invalid_request", "The model is named by the body of the request, not by its query.", {
    param: name,
  });
}

/** The same of a call for a provider's own API: a credential is refused, because logs on the way may show it. */
export function withOwnQuery(url: string, query: string): string {
  if (query === "") return url;
  checkQuery(query);
  for (const pair of query.split("&")) {
    const name = nameOf(pair);
    if (name === null) throw new Failure("invalid_request", "The query of the URL is not valid percent-encoding.");
    if (!isCredential(name)) continue;
    throw new Failure(
      "invalid_request",
      `The query must not hold "${name.slice(0, 64)}": send your key of the gateway in a header; the provider's is put in here.`,
      { param: name.slice(0, 64) },
    );
  }
  return `${url}?${query}`;
}

/** A query that no URL can hold must not look like an upstream that cannot be reached. */
function checkQuery(query: string): void {
  if (query.length <= bounds.queryBytesMax && sendable.test(query)) return;
  throw new Failure("invalid_request", "The query of the URL cannot be sent on: it is too long or not encoded.");
}

/** Printable ASCII without blanks, quotes, backslashes and the sign that would end it (RFC 3986, 3.4). */
const sendable = /^[!$-;=?-Z_a-z~[\]|{}^`%]*$/;

function nameOf(pair: string): string | null {
  try {
    return fold(decodeURIComponent((pair.split("=", 1)[0] ?? "").replaceAll("+", " "))).trim();
  } catch {
    return null;
  }
}

const models: ReadonlySet<string> = new Set(["model", "models", "fallbacks"]);

function isCredential(name: string): boolean {
  return credentials.has(name) || credentialBeginnings.some((beginning) => name.startsWith(beginning));
}

/** In which vendors take a key, a token or a signature, or are told to use another account or another method. Folded. */
const credentials: ReadonlySet<string> = new Set(
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
  ].map(fold),
);

const credentialBeginnings: readonly string[] = ["x-amz-", "x-goog-"];
