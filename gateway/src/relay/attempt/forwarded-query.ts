import { bounds, Failure } from "#core/index.ts";
import { fold } from "#protocols/index.ts";

/**
 * An upstream's URL with the caller's own query behind it, without the parameters in which some clients send a key. A
 * query that no URL can hold is the caller's mistake: it must not look like an upstream that cannot be reached. Nor may
 * it name a model, beside the one that was granted. Throws Failure invalid_request.
 */
export function withQuery(url: string, query: string): string {
  if (query === "") return url;
  if (query.length > bounds.queryBytesMax || !sendable.test(query)) {
    throw new Failure("invalid_request", "The query of the URL cannot be sent on: it is too long or not encoded.");
  }
  const kept = query
    .split("&")
    .filter((pair) => pair !== "" && mayGoOn(nameOf(pair)))
    .join("&");
  if (kept === "") return url;
  return url.includes("?") ? `${url}&${kept}` : `${url}?${kept}`;
}

/** Printable ASCII without blanks, quotes, backslashes and the sign that would end it (RFC 3986, 3.4). */
const sendable = /^[!$-;=?-Z_a-z~[\]|{}^`%]*$/;

const credentials: ReadonlySet<string> = new Set(["key", "api_key", "api-key", "apikey", "access_token", "token"]);

const models: ReadonlySet<string> = new Set(["model", "models", "fallbacks"]);

function mayGoOn(name: string): boolean {
  if (models.has(name)) {
    throw new Failure("invalid_request", "The model is named by the body of the request, not by its query.", {
      param: name,
    });
  }
  return !credentials.has(name);
}

function nameOf(pair: string): string {
  const name = pair.split("=", 1)[0] ?? "";
  try {
    return fold(decodeURIComponent(name));
  } catch {
    return name;
  }
}
