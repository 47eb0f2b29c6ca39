/**
 * upstream: the one HTTP client. Every call to another machine goes through it.
 *
 * origin    scheme, host and port of a URL, checked once and remembered.
 * route     an origin and its addresses. Each address is public, private or forbidden.
 * exchange  one request and its answer, with the time-outs that may end it.
 *
 * Two ways to send stand behind one port: connections of our own that speak HTTP/1.1 (http1), and the runtime's fetch, which
 * has no connect time-out and needs a bare connection (probe) beside a request to a silent address.
 *
 * When something fails: no address, a forbidden address, a refused or reset connection is upstream_unreachable. Silence is
 * upstream_timeout and names the time-out. A body that stops early is upstream_truncated, never a clean end. What is no HTTP
 * is upstream_error. A POST is never sent twice. Fetch queues more than BUN_CONFIG_MAX_HTTP_REQUESTS requests (256 by
 * default); the variable is read when the process starts.
 */
export { addressKind } from "./address-kind.ts";

export { believedBeside } from "./authorities.ts";
export { createTransport, type InProcessHandler, type TransportOptions } from "./transport.ts";
