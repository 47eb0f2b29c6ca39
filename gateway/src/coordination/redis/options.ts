import type { Claim, Clock, Counter, Ids, Observer } from "#ports/index.ts";
import type { RedisLink } from "./redis-link.ts";

export interface RedisCounterOptions {
  /** See `readRedisAddress`. */
  readonly url: string;
  /** The id of this process, `proc_…`. Default: a new one. */
  readonly owner?: string;
  /** The id of the installation, not a secret. A counter that another installation uses is refused; left out, that is not checked. */
  readonly installation?: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: Pick<Observer, "log">;
  /** Seeds an empty counter with the last minute of the ledger and the holds of tasks. One process does it, under a lock. */
  readonly seed?: (counter: Seeding) => Promise<void>;
  /** Resolves when every entry that was settled before the call is in the ledger. Absent: they are there at once. */
  readonly settled?: (signal: AbortSignal) => Promise<void>;
  /** Timeout of a response, in milliseconds. Default: bounds.redisAnswerMs. */
  readonly answerMs?: number;
  /** Called with the duration of each request, in milliseconds. */
  readonly onRoundTrip?: (ms: number) => void;
  /** Prefix of all keys, in braces: several gateways may share one Redis. Default `sluice`. */
  readonly namespace?: string;
  /** Time in milliseconds, for tests. Default: the server's clock, so that clocks of processes do not matter. */
  readonly nowMs?: () => number;
  /** How limits are leased in shares; false: they are not. */
  readonly shares?: ShareOptions | false;
  /** Replaces `openRedisLink` in tests. */
  readonly openLink?: (onReady: () => void) => Promise<RedisLink>;
}

/** An empty counter. */
export interface Seeding extends Pick<Counter, "seed"> {
  /** Restores a hold that `SharedHolds.hold` took before, without checking limits. */
  hold(id: string, claims: readonly Claim[]): Promise<void>;
  /** Delays calls until this live process has reported what it holds, but no longer than a lease lasts. */
  await(owner: string): void;
}

/** The oldest supported Redis. */
export const redisVersionMin = 7;

/** Absent members have the gateway's defaults. */
export interface ShareOptions {
  /** A limit is leased if it is at least this many times the size of a call. */
  readonly callsPerLimitMin?: number;
  /** How long a share should last at the current demand. */
  readonly aheadMs?: number;
  /** The least number of calls that a share should last for. */
  readonly callsMin?: number;
  /** The shortest time between two messages when a share is used up. */
  readonly syncMsMin?: number;
}
