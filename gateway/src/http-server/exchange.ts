import type { CallerMemory } from "#core/index.ts";
import type { MalformedMessage, RequestHead } from "#http1/index.ts";
import type { ConnectionClosing } from "./caller-connections.ts";

/** Receives the events of one request and its answer from the connection. */
export interface ServerExchange {
  /** The head was read, and `onBody` was called with the bytes of the body that arrived with it. */
  start(): void;
  onBody(piece: Uint8Array): void;
  onBodyEnd(): void;
  /** The body is malformed. An answer still reaches the caller. */
  onMalformed(thrown: unknown): void;
  /** The body, or a message of a WebSocket, arrives too slowly. The exchange answers. */
  onSlow(): void;
  /** The caller closed its side of the connection. An answer may still reach it. */
  onCallerDone(): void;
  /** The whole answer was sent. */
  onSent(): void;
  /** The connection has ended. `slow`: because the caller read its answer too slowly. */
  onGone(slow: boolean): void;
  /** The written bytes were sent: there is room for more. */
  onRoom(): void;
  /** Bytes of a connection that became a WebSocket. */
  onRaw(bytes: Uint8Array): void;
}

/** The server, for its connections. */
export interface ConnectionHost<Connection> {
  open(connection: Connection, head: RequestHead): ServerExchange;
  /** Answers a malformed request. */
  refuse(connection: Connection, problem: MalformedMessage): void;
  /** Answers a request with a head that did not arrive in time. */
  refuseLate(connection: Connection): void;
  /** Counts a connection that is closed for its caller's slowness. */
  closing(cause: ConnectionClosing): void;
  /** The tick at which so much time has passed. */
  after(ms: number): number;
  readonly idleMs: number;
  /** Milliseconds between two ticks. */
  readonly turnMs: number;
  readonly memory: CallerMemory;
  readonly secure: boolean;
  date(): string;
  /** Whether every answer closes its connection. */
  leaving(): boolean;
  flushSoon(connection: Connection): void;
  forget(connection: Connection): void;
}
