import { bounds, Failure, WindowCounts } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** Counts tries by address, so that a one-time token cannot be guessed at leisure. */
export class Throttle {
  readonly #tries: WindowCounts;

  constructor(clock: Clock) {
    this.#tries = new WindowCounts({
      max: bounds.setupTriesMax,
      windowMs: bounds.setupTriesMs,
      keysMax: bounds.throttledAddressesMax,
      clock,
    });
  }

  /** Counts one try. Throws rate_limit_exceeded once the address has used up its share. */
  take(address: string): void {
    const waitMs = this.#tries.take(address);
    if (waitMs === 0) return;
    throw new Failure("rate_limit_exceeded", "Too many tries from this address. Wait, then open the link again.", {
      retryAfterMs: waitMs,
    });
  }

  /** Takes the last try back: it was a good one, and whoever opens a link for real must not run out. */
  forgive(address: string): void {
    this.#tries.giveBack(address);
  }
}
