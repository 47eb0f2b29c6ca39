/**
 * http-server: HTTP/1.1 of our own towards callers, on the runtime's sockets.
 *
 * connection  a caller's: its requests are answered one after the other, in their order.
 * exchange    one request and its answer: a call, answered here, or one that is passed on to the inner server.
 * inner       the runtime's own server behind a socket of this machine: whatever is no call of ours, WebSockets among it.
 *             Each request tells it in a header that nobody else knows how to write who is asking, and whether by TLS.
 *
 * When something fails: what is no HTTP, or could be read in two ways, is refused and its connection closed. A caller that
 * has gone aborts its call at once. An answer that breaks off ends its connection, never as if it were whole. Whatever waits
 * for a caller has a time: for a head, a body, the next request, the reading of an answer; a body and an answer have a least rate too.
 * Connections are bounded, in all and for each address.
 */
export { ServerAnswer } from "./answer.ts";
export type { Reply } from "./call-exchange.ts";
export { CallerConnections, type ConnectionLimits } from "./caller-connections.ts";
export type { CallerRequest } from "./caller-request.ts";
export { HttpServer, type HttpServerOptions, type RefusedReason } from "./http-server.ts";
export { type Guarded, InnerSocket, type Peer } from "./inner-socket.ts";
export type { MessageGuard } from "./message-meter.ts";
