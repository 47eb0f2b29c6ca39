import type { CallerMemory } from "#core/index.ts";
import type { MalformedMessage, RequestHead } from "#http1/index.ts";
import type { ConnectionClosing } from "./caller-connections.ts";
import type { ServerExchange } from "./exchange.ts";

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
  /** Its connections speak TLS. */
  readonly secure: boolean;
  /** HTTP's date of now. */
  date(): string;
  /** True: no connection is used again. */
  leaving(): boolean;
  flushSoon(connection: Connection): void;
  forget(connection: Connection): void;
}
