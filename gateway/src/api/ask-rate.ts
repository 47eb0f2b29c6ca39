import { bounds, Failure, WindowCounts } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

const usageAsksMs = 60_000;

/**
 * How often a key may ask what it has used: each answer is read from the database. No limit of its own counts these
 * questions, since they cost nothing at any vendor.
 */
export class AskRate {
  readonly #asked: WindowCounts;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#asked = new WindowCounts({
      max: bounds.usageAsksMax,
      windowMs: usageAsksMs,
      keysMax: bounds.keyCacheEntriesMax,
      clock,
    });
  }

  /** Counts one question. Throws rate_limit_exceeded beyond usageAsksMax in usageAsksMs. */
  take(keyId: string): void {
    const waitMs = this.#asked.take(keyId);
    if (waitMs === 0) return;
    throw new Failure(
      "rate_limit_exceeded",
      `A key may ask for its usage ${bounds.usageAsksMax} times a minute; try again later.`,
      { retryAfterMs: waitMs },
    );
  }
}
