import { addressKey, bounds, Failure } from "#core/index.ts";
import type { OpenTries, Tries } from "#ports/index.ts";

/** Counts tries by address, so that a one-time token cannot be guessed at leisure. */
export class Throttle {
  readonly #tries: Tries;

  /** `name`: what is opened with the token. */
  constructor(name: "setup" | "link", openTries: OpenTries) {
    this.#tries = openTries({
      name,
      max: bounds.setupTriesMax,
      windowMs: bounds.setupTriesMs,
      windowMsMax: bounds.setupTriesMs,
    });
  }

  /** Counts one try. Throws rate_limit_exceeded once the address has used up its share. */
  async take(address: string): Promise<void> {
    const { waitMs } = await this.#tries.take([addressKey(address)]);
    if (waitMs === 0) return;
    throw new Failure("rate_limit_exceeded", "Too many tries from this address. Wait, then open the link again.", {
      retryAfterMs: waitMs,
    });
  }

  /** Takes the last try back: it was a good one, and whoever opens a link for real must not run out. */
  async forgive(address: string): Promise<void> {
    await this.#tries.giveBack([addressKey(address)]);
  }
}
