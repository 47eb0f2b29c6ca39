/**
 * upstream: the one HTTP client. Every call to another machine goes through it.
 *
 * origin    scheme, host and port of a URL.
 * route     an origin and its addresses, each public, private or forbidden.
 * exchange  one request and its answer, with the timeouts that may end it.
 *
 * Requests are sent by HTTP/1.1 (http1); requests to `demo:` URLs go to handlers in this process.
 *
 * Failures: no address, a forbidden address, a refused or reset connection is upstream_unreachable. Silence is upstream_timeout, which
 * names the timeout. A body that stops early is upstream_truncated, never a clean end. An answer that is not HTTP is upstream_error. A
 * POST is never sent twice.
 */
export { addressKind } from "./address-kind.ts";
export type { InProcessHandler } from "./in-process.ts";
export { type TransportOptions, trustedWith } from "./route-table.ts";
export { createTransport } from "./socket-transport.ts";
