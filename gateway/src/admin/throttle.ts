import { bounds, Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

interface Tries {
  count: number;
  readonly endsAtMs: number;
}

/**
 * Counts tries by address, so that a one-time token cannot be guessed at leisure. Remembers a bounded number of
 * addresses; the oldest leave first.
 */
export class Throttle {
  readonly #clock: Clock;
  readonly #tries = new Map<string, Tries>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one try. Throws rate_limit_exceeded once the address has used up its share. */
  take(address: string): void {
    const nowMs = this.#clock.monotonic();
    let tries = this.#tries.get(address);
    if (tries === undefined || tries.endsAtMs <= nowMs) {
      tries = { count: 0, endsAtMs: nowMs + bounds.setupTriesMs };
      this.#tries.delete(address);
      this.#tries.set(address, tries);
      this.#forgetOldest();
    }
    if (tries.count >= bounds.setupTriesMax) {
      throw new Failure("rate_limit_exceeded", "Too many tries from this address. Wait, then open the link again.", {
        retryAfterMs: tries.endsAtMs - nowMs,
      });
    }
    tries.count += 1;
  }

  /** Takes the last try back: it was a good one, and whoever opens a link for real must not run out. */
  forgive(address: string): void {
    const tries = this.#tries.get(address);
    if (tries !== undefined && tries.count > 0) tries.count -= 1;
  }

  #forgetOldest(): void {
    if (this.#tries.size <= bounds.throttledAddressesMax) return;
    const oldest = this.#tries.keys().next();
    if (oldest.done !== true) this.#tries.delete(oldest.value);
  }
}
