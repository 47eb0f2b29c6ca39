/**
 * http-server: HTTP/1.1 for callers, on the runtime's sockets.
 *
 * connection  of a caller: its requests are answered one after the other.
 * exchange    one request and its answer.
 * tunnel      a connection that became a WebSocket. The runtime's own server, behind a local socket, speaks its protocol.
 *
 * Failures: a malformed or ambiguous request is refused and its connection closed. When a caller is gone its call is aborted at once. An
 * incomplete answer ends its connection, so that it never looks whole. Every wait for a caller has a timeout: for a head, a body, the
 * next request, the reading of an answer. A body and an answer have a minimum rate too. Connections are bounded, in total and for each
 * address.
 */
export { ServerAnswer } from "./answer.ts";
export type { Reply } from "./call-exchange.ts";
export { CallerConnections, type ConnectionLimits } from "./caller-connections.ts";
export type { CallerRequest } from "./caller-request.ts";
export { HttpServer, type HttpServerOptions, type RefusedReason } from "./http-server.ts";
export type { MessageGuard } from "./message-meter.ts";
export { type Guarded, SocketUpgrades } from "./socket-tunnel.ts";
