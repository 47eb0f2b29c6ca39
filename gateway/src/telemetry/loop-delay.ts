import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** Parts of the window, and the one that goes on. */
const slots = bounds.loopWindowMs / bounds.loopSlotMs + 1;

/**
 * How late the event loop runs what is due, by a timer of its own. It looks often while calls are under way; a process that
 * serves nobody has nobody to hold up, and each look wakes it. What was seen is kept for a while, whoever asks: there are several
 * who do, and none may take it from the others.
 */
export class LoopDelay {
  readonly #clock: Clock;
  readonly #isBusy: () => boolean;
  readonly #worstMs = new Float64Array(slots);
  /** Which stretch of time each of these stands for. */
  readonly #stretch = new Float64Array(slots).fill(-1);
  #dueMs = 0;
  #closed = false;
  #stop = (): void => undefined;

  constructor(clock: Clock, isBusy: () => boolean) {
    this.#clock = clock;
    this.#isBusy = isBusy;
    this.#book();
  }

  /** The longest delay of the last minute, in seconds, with the one that lasts now. */
  worst(): number {
    const nowMs = this.#clock.monotonic();
    const oldest = Math.floor(nowMs / bounds.loopSlotMs) - slots;
    let worstMs = this.#closed ? 0 : Math.max(0, nowMs - this.#dueMs);
    this.#stretch.forEach((stretch, slot) => {
      if (stretch > oldest) worstMs = Math.max(worstMs, this.#worstMs[slot] ?? 0);
    });
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
      const nowMs = this.#clock.monotonic();
      this.#note(nowMs, nowMs - this.#dueMs);
      this.#book();
    });
  }

  #note(nowMs: number, delayMs: number): void {
    const stretch = Math.floor(nowMs / bounds.loopSlotMs);
    const slot = stretch % slots;
    const isNew = this.#stretch[slot] !== stretch;
    this.#stretch[slot] = stretch;
    this.#worstMs[slot] = isNew ? delayMs : Math.max(this.#worstMs[slot] ?? 0, delayMs);
  }
}
