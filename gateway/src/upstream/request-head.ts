import { bounds, Failure } from "#core/index.ts";
import { FieldLines } from "#http1/index.ts";
import type { OutboundRequest } from "#ports/index.ts";
import type { Route } from "./route-table.ts";
import { refusedUrl } from "./send-failure.ts";

/** Headers that the connection sets itself. */
const ownNames: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "proxy-authorization",
]);
const bodyMethods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
const plainTarget = /^[\x21-\x7e]*$/;

/**
 * The head of a request with its empty line; for a proxy with the whole URL (RFC 9112 §3.2.2). `rest`: the URL after its origin.
 * `bodyBytes`: null without a body. Throws invalid_request for an invalid header: it is the caller's, and invalid for every upstream.
 */
export function requestHead(
  request: OutboundRequest,
  { origin, way }: Pick<Route, "origin" | "way">,
  rest: string,
  bodyBytes: number | null,
): string {
  const prefix = way === null ? "" : way.targetPrefix;
  let text = `${request.method} ${prefix}${targetOf(rest)} HTTP/1.1\r\nhost: ${origin.hostHeader}\r\n`;
  if (way !== null) text += way.authorization;
  for (const name in request.headers) text += lines.of(name, request.headers[name] ?? "");
  if (bodyBytes !== null || bodyMethods.has(request.method)) text += `content-length: ${bodyBytes ?? 0}\r\n`;
  return `${text}accept-encoding: identity\r\nconnection: keep-alive\r\n\r\n`;
}

const lines = new FieldLines(
  (name) => ownNames.has(name.toLowerCase()),
  (problem) => {
    throw unsendable(problem);
  },
);

/** Path and query, with percent-encoding for characters outside ASCII. */
function targetOf(rest: string): string {
  const cached = cachedTargets.get(rest);
  if (cached !== undefined) return cached;
  const target = writtenTarget(rest);
  if (cachedTargets.size < bounds.knownUrlsMax && rest.length <= bounds.knownUrlCharactersMax)
    cachedTargets.set(rest, target);
  return target;
}

const cachedTargets = new Map<string, string>();

function writtenTarget(rest: string): string {
  const fragment = rest.indexOf("#");
  const plain = fragment < 0 ? rest : rest.slice(0, fragment);
  const target = plain.startsWith("/") ? plain : `/${plain}`;
  if (plainTarget.test(target)) return target;
  try {
    return target.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text));
  } catch {
    throw refusedUrl("it has half a surrogate pair");
  }
}

function unsendable(problem: "name" | "value"): Failure {
  const cause = new Error(`the ${problem} of a header cannot be sent`);
  return new Failure("invalid_request", "A header cannot be sent to the upstream.", { arrival: "unsent", cause });
}
