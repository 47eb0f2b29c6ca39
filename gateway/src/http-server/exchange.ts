import type { CallerMemory } from "#core/index.ts";
import type { MalformedMessage, RequestHead } from "#http1/index.ts";
import type { ConnectionClosing } from "./caller-connections.ts";

/** One request and its answer, as the connection knows them. */
export interface ServerExchange {
  /** The head has been read, and what came of the body with it was told. */
  start(): void;
  onBody(piece: Uint8Array): void;
  onBodyEnd(): void;
  /** The request is not what its head said. Its answer still reaches the caller. */
  onMalformed(thrown: unknown): void;
  /** The request arrives too slowly. False: it is refused in place of the exchange, which is over. */
  onSlow(): boolean;
  /** The caller sends no more: it has gone, though what is written may still reach it. */
  onCallerDone(): void;
  /** The whole answer has left. */
  onSent(): void;
  /** The caller cannot be reached any more. `slow`: because it read its answer too slowly. */
  onGone(slow: boolean): void;
  /** What was written has left: there is room for more. */
  onRoom(): void;
  /** Bytes of a connection that speaks another protocol now. */
  onRaw(bytes: Uint8Array): void;
}

/** What a connection needs of its server. */
export interface ConnectionHost<Connection> {
  open(connection: Connection, head: RequestHead): ServerExchange;
  /** A request that cannot be read. */
  refuse(connection: Connection, problem: MalformedMessage): void;
  /** The time of a head that had begun is over, or a body comes too slowly. */
  refuseLate(connection: Connection, part: "head" | "body"): void;
  /** It ends its connection with this caller. */
  closing(cause: ConnectionClosing): void;
  /** The deadline that lies so far ahead, in turns of the wheel. */
  after(ms: number): number;
  readonly idleMs: number;
  /** Between two turns of the wheel. */
  readonly turnMs: number;
  readonly memory: CallerMemory;
  readonly secure: boolean;
  date(): string;
  /** True: no connection is used again. */
  leaving(): boolean;
  flushSoon(connection: Connection): void;
  forget(connection: Connection): void;
}
