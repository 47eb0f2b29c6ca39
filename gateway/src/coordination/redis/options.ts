import type { Clock, Counter, Ids, Observer } from "#ports/index.ts";

export interface RedisCounterOptions {
  /** See `openRedisLink`. */
  readonly url: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: Pick<Observer, "log">;
  /** Tells an empty counter what the ledger knows of the last minute. One process is asked for all, under a lock. */
  readonly seed?: (counter: Pick<Counter, "seed">) => Promise<void>;
  /** What its keys begin with, in braces: several gateways may share one Redis. Default `sluice`. */
  readonly namespace?: string;
  /** Time in milliseconds. Left out it is the server's own, so that no clock of a caller matters. */
  readonly nowMs?: () => number;
}
