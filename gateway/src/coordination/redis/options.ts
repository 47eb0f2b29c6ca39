import type { Claim, Clock, Counter, Ids, Observer } from "#ports/index.ts";
import type { RedisLink } from "./redis-link.ts";

export interface RedisCounterOptions {
  /** See `readRedisAddress`. */
  readonly url: string;
  /** The id of this process, `proc_…`, by which its part is known to the others. Default: one that is made. */
  readonly owner?: string;
  /**
   * Which installation counts, alike in all of its processes and no secret: one counter is for one. Left out, it is not looked
   * whose the counter is.
   */
  readonly installation?: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: Pick<Observer, "log">;
  /** Tells an empty counter what the ledger knows of the last minute, and what tasks hold. One process is asked for all, under a lock. */
  readonly seed?: (counter: Seeding) => Promise<void>;
  /** Resolves when every entry that was settled before the call is in the ledger. Left out: it is at once. */
  readonly settled?: (signal: AbortSignal) => Promise<void>;
  /** How long an answer is waited for while this process runs, in milliseconds. Default: bounds.redisAnswerMs. */
  readonly answerMs?: number;
  /** Told how long each answer took, in milliseconds. */
  readonly onRoundTrip?: (ms: number) => void;
  /** What its keys begin with, in braces: several gateways may share one Redis. Default `sluice`. */
  readonly namespace?: string;
  /** Time in milliseconds. Left out it is the server's own, so that no clock of a caller matters. */
  readonly nowMs?: () => number;
  /** How large limits are leased in shares; false: they are not. */
  readonly shares?: ShareOptions | false;
  /** In the place of `openRedisLink`. */
  readonly openLink?: (onReady: () => void) => Promise<RedisLink>;
}

/** An empty counter. */
export interface Seeding extends Pick<Counter, "seed"> {
  /** What lasts, as `LastingHolds.hold` took it before; unchecked. */
  hold(id: string, claims: readonly Claim[]): Promise<void>;
  /** A process that lives: nobody counts before it has told what it holds, or for as long as a lease lasts. */
  await(owner: string): void;
}

/** The oldest Redis whose scripts and commands are known to do. */
export const redisVersionMin = 7;

/** How much is leased. Left out: what suits a gateway. */
export interface ShareOptions {
  /** A limit is leased when it is at least so many times what a call takes. */
  readonly callsPerLimitMin?: number;
  /** A share is to last for so long, as calls come now. */
  readonly aheadMs?: number;
  /** … and for so many calls, however few come. */
  readonly callsMin?: number;
  /** How soon after the last message there is the next, when a share is used up. */
  readonly tellMsMin?: number;
}
