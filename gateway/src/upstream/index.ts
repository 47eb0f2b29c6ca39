/**
 * upstream: the one HTTP client. Every call to another machine goes through it.
 *
 * origin    scheme, host and port of a URL, checked once and remembered.
 * route     an origin and its addresses. Each address is public, private or forbidden.
 * exchange  one request and its answer, with the time-outs that may end it.
 *
 * Requests go over connections of our own that speak HTTP/1.1 (http1); those to `demo:` URLs to handlers of this process.
 *
 * When something fails: no address, a forbidden address, a refused or reset connection is upstream_unreachable. Silence is
 * upstream_timeout and names the time-out. A body that stops early is upstream_truncated, never a clean end. What is no HTTP
 * is upstream_error. A POST is never sent twice.
 */
export { addressKind } from "./address-kind.ts";
export type { InProcessHandler } from "./in-process.ts";
export { believedBeside, type TransportOptions } from "./route-table.ts";
export { createTransport } from "./transport.ts";
