import { bounds, Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

interface Asked {
  count: number;
  readonly endsAtMs: number;
}

/**
 * How often a key may ask what it has used: each answer is read from the database. No limit of its own counts these
 * questions, since they cost nothing at any vendor. Remembers a bounded number of keys; the oldest leave first.
 */
export class AskRate {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #asked = new Map<string, Asked>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Counts one question. Throws rate_limit_exceeded beyond bounds.usageAsksMax in bounds.usageAsksMs. */
  take(keyId: string): void {
    const nowMs = this.#clock.monotonic();
    let asked = this.#asked.get(keyId);
    if (asked === undefined || asked.endsAtMs <= nowMs) {
      asked = { count: 0, endsAtMs: nowMs + bounds.usageAsksMs };
      this.#asked.delete(keyId);
      this.#asked.set(keyId, asked);
      this.#forgetOldest();
    }
    if (asked.count >= bounds.usageAsksMax) {
      throw new Failure(
        "rate_limit_exceeded",
        `A key may ask for its usage ${bounds.usageAsksMax} times a minute; try again later.`,
        { retryAfterMs: asked.endsAtMs - nowMs },
      );
    }
    asked.count++;
  }

  #forgetOldest(): void {
    if (this.#asked.size <= bounds.keyCacheEntriesMax) return;
    const oldest = this.#asked.keys().next();
    if (oldest.done !== true) this.#asked.delete(oldest.value);
  }
}
