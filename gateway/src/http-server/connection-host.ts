import type { CallerMemory } from "#core/index.ts";
import type { MalformedMessage, RequestHead } from "#http1/index.ts";
import type { ServerExchange } from "./exchange.ts";

/** What a connection needs of its server. */
export interface ConnectionHost<Connection> {
  open(connection: Connection, head: RequestHead): ServerExchange;
  /** A request that cannot be read. */
  refuse(connection: Connection, problem: MalformedMessage): void;
  /** The time of a head that had begun is over. */
  refuseLate(connection: Connection): void;
  /** The deadline that lies so far ahead, in turns of the wheel. */
  after(ms: number): number;
  readonly idleMs: number;
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
