import { Failure } from "#core/index.ts";
import { FieldLines } from "#http1/index.ts";
import type { OutboundRequest } from "#ports/index.ts";
import type { Route } from "./route-table.ts";

/** Headers that the connection sets itself. */
const ownNames: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "proxy-authorization",
]);
const starts: Readonly<Record<OutboundRequest["method"], string>> = {
  GET: "GET ",
  HEAD: "HEAD ",
  POST: "POST ",
  PUT: "PUT ",
  PATCH: "PATCH ",
  DELETE: "DELETE ",
};
const bodyMethods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/**
 * The parts of a request's head, with its empty line; for a proxy with the whole URL (RFC 9112 §3.2.2). `bodyBytes`: null without a
 * body. Throws invalid_request for an invalid header: it is the caller's, and invalid for every upstream.
 */
export function requestHead(
  { method, headers }: OutboundRequest,
  { origin, way }: Pick<Route, "origin" | "way">,
  target: string,
  bodyBytes: number | null,
): string[] {
  const head = [starts[method]];
  if (way === null) head.push(target, origin.lineEnd);
  else head.push(way.targetPrefix, target, origin.lineEnd, way.authorization);
  for (const name in headers) lines.add(head, name, headers[name] ?? "");
  if (bodyBytes !== null || bodyMethods.has(method)) head.push("\r\ncontent-length: ", String(bodyBytes ?? 0));
  head.push("\r\naccept-encoding: identity\r\nconnection: keep-alive\r\n\r\n");
  return head;
}

const lines = new FieldLines(
  (name) => ownNames.has(name.toLowerCase()),
  (problem) => {
    const cause = new Error(`the ${problem} of a header cannot be sent`);
    throw new Failure("invalid_request", "A header cannot be sent to the upstream.", { arrival: "unsent", cause });
  },
);
