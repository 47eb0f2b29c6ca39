import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/**
 * How late the event loop runs what is due, by a timer of its own. It looks often while calls are under way; a process that
 * serves nobody has nobody to hold up, and each look wakes it.
 */
export class LoopDelay {
  readonly #clock: Clock;
  readonly #isBusy: () => boolean;
  #worstMs = 0;
  #dueMs = 0;
  #closed = false;
  #stop = (): void => undefined;

  constructor(clock: Clock, isBusy: () => boolean) {
    this.#clock = clock;
    this.#isBusy = isBusy;
    this.#book();
  }

  /** The longest delay since it was asked last, in seconds, with the one that lasts now. */
  take(): number {
    const nowMs = this.#closed ? this.#dueMs : this.#clock.monotonic();
    const worstMs = Math.max(this.#worstMs, nowMs - this.#dueMs);
    this.#worstMs = 0;
    return worstMs / 1_000;
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #book(): void {
    const waitMs = this.#isBusy() ? bounds.loopLookMs : bounds.loopIdleLookMs;
    this.#dueMs = this.#clock.monotonic() + waitMs;
    this.#stop = this.#clock.after(waitMs, () => {
      this.#worstMs = Math.max(this.#worstMs, this.#clock.monotonic() - this.#dueMs);
      this.#book();
    });
  }
}
