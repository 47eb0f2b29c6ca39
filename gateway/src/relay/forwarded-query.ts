import { bounds, Failure } from "#core/index.ts";

/**
 * An upstream's URL with the caller's own query behind it, without the parameters in which some clients send a key. A
 * query that no URL can hold is the caller's mistake: it must not look like an upstream that cannot be reached. Throws
 * Failure invalid_request.
 */
export function withQuery(url: string, query: string): string {
  if (query === "") return url;
  if (query.length > bounds.queryBytesMax || !sendable.test(query)) {
    throw new Failure("invalid_request", "The query of the URL cannot be sent on: it is too long or not encoded.");
  }
  const kept = query
    .split("&")
    .filter((pair) => pair !== "" && !credentials.has(nameOf(pair)))
    .join("&");
  if (kept === "") return url;
  return url.includes("?") ? `${url}&${kept}` : `${url}?${kept}`;
}

/** Printable ASCII without blanks, quotes, backslashes and the sign that would end it (RFC 3986, 3.4). */
const sendable = /^[!$-;=?-Z_a-z~[\]|{}^`%]*$/;

const credentials: ReadonlySet<string> = new Set(["key", "api_key", "api-key", "apikey", "access_token", "token"]);

function nameOf(pair: string): string {
  const name = pair.split("=", 1)[0] ?? "";
  try {
    return decodeURIComponent(name).toLowerCase();
  } catch {
    return name;
  }
}
