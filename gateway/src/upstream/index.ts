/**
 * upstream: the one way out. Every byte the gateway sends to another machine on behalf of a call goes through here.
 *
 * origin    scheme, host and port of a URL, checked once and remembered.
 * route     an origin with the addresses it resolved to, each judged: public, private or forbidden.
 * exchange  one request and its answer, with the clocks that may end it.
 * probe     a bare connection beside a request to a silent address, because fetch has no connect time-out.
 *
 * When the world is down: a name that cannot be resolved, an address that may not be dialled, a refused or reset
 * connection is upstream_unreachable; silence is upstream_timeout and says which clock; a body that stops short is
 * upstream_truncated, never a clean end; nonsense instead of HTTP is upstream_error. A POST is never sent twice.
 * Fetch queues beyond BUN_CONFIG_MAX_HTTP_REQUESTS (256 by default), which is read when the process starts: whoever
 * starts it sets that variable.
 */
export { addressKind } from "./address-kind.ts";

export { createTransport, type InProcessHandler } from "./transport.ts";
