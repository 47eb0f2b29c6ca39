import type { Clock } from "#ports/index.ts";

/** So many lines in a second, and the number of those that were not written. */
export class LineBudget {
  readonly #clock: Clock;
  readonly #perSecond: number;
  #startMs = Number.NEGATIVE_INFINITY;
  #used = 0;
  #suppressed = 0;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** null when the line must not be written; else how many were not written since the last that was. */
  take(): number | null {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#startMs >= 1_000) {
      this.#startMs = nowMs;
      this.#used = 0;
    }
    if (this.#used >= this.#perSecond) {
      this.#suppressed++;
      return null;
    }
    this.#used++;
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return suppressed;
  }
}
