import { bounds, Failure } from "#core/index.ts";
import { FieldLines } from "#http1/index.ts";
import type { OutboundRequest } from "#ports/index.ts";
import type { Route } from "./route-table.ts";
import { refusedUrl } from "./send-failure.ts";

/** What the connection decides by itself. */
const ours: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "proxy-authorization",
]);
const bodyMethods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
const plainTarget = /^[\x21-\x7e]*$/;

/** Of a route, what a request's head says. */
type HeadRoute = Pick<Route, "origin" | "way">;

/**
 * The head of a request with its empty line; to a proxy with the whole address (RFC 9112 §3.2.2). `rest`: of the URL, from behind its origin. `bodyBytes`: null without a body.
 * Throws invalid_request where a header cannot be sent: it comes from the caller, and no other upstream would take it.
 */
export function requestHead(
  request: OutboundRequest,
  { origin, way }: HeadRoute,
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
  (name) => ours.has(name.toLowerCase()),
  (problem) => {
    throw unsendable(problem);
  },
);

/** Path and query as they are; what is not ASCII is written in percent signs, as everywhere. Most requests have one of few. */
function targetOf(rest: string): string {
  const known = knownTargets.get(rest);
  if (known !== undefined) return known;
  const target = writtenTarget(rest);
  if (knownTargets.size < bounds.knownUrlsMax && rest.length <= bounds.knownUrlCharactersMax)
    knownTargets.set(rest, target);
  return target;
}

const knownTargets = new Map<string, string>();

function writtenTarget(rest: string): string {
  const fragment = rest.indexOf("#");
  const plain = fragment < 0 ? rest : rest.slice(0, fragment);
  const target = plain.startsWith("/") ? plain : `/${plain}`;
  if (plainTarget.test(target)) return target;
  try {
    return target.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text));
  } catch {
    throw refusedUrl("it has half a character");
  }
}

function unsendable(problem: "name" | "value"): Failure {
  const cause = new Error(`the ${problem} of a header cannot be sent`);
  return new Failure("invalid_request", "A header cannot be sent to the upstream.", { arrival: "unsent", cause });
}
