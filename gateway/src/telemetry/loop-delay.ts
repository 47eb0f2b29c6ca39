import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** The slots of the window and the current one. */
const slots = bounds.loopWindowMs / bounds.loopSlotMs + 1;

/**
 * Measures how late the event loop runs a timer: often while calls are under way, rarely otherwise, because each timer wakes the
 * process. The window is kept for several readers.
 */
export class LoopDelay {
  readonly #clock: Clock;
  readonly #isBusy: () => boolean;
  readonly #worstMs = new Float64Array(slots);
  /** Number of the slot that each item holds, counted from the start of the clock. */
  readonly #slotNumbers = new Float64Array(slots).fill(-1);
  #dueMs = 0;
  #closed = false;
  #cancel = (): void => undefined;

  constructor(clock: Clock, isBusy: () => boolean) {
    this.#clock = clock;
    this.#isBusy = isBusy;
    this.#schedule();
  }

  /** The longest delay of the last minute in seconds, including the current one. */
  worst(): number {
    const nowMs = this.#clock.monotonic();
    const oldest = Math.floor(nowMs / bounds.loopSlotMs) - slots;
    let worstMs = this.#closed ? 0 : Math.max(0, nowMs - this.#dueMs);
    this.#slotNumbers.forEach((number, index) => {
      if (number > oldest) worstMs = Math.max(worstMs, this.#worstMs[index] ?? 0);
    });
    return worstMs / 1_000;
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #schedule(): void {
    const waitMs = this.#isBusy() ? bounds.loopSampleMs : bounds.loopIdleSampleMs;
    this.#dueMs = this.#clock.monotonic() + waitMs;
    this.#cancel = this.#clock.after(waitMs, () => {
      const nowMs = this.#clock.monotonic();
      this.#record(nowMs, nowMs - this.#dueMs);
      this.#schedule();
    });
  }

  #record(nowMs: number, delayMs: number): void {
    const number = Math.floor(nowMs / bounds.loopSlotMs);
    const index = number % slots;
    const isNew = this.#slotNumbers[index] !== number;
    this.#slotNumbers[index] = number;
    this.#worstMs[index] = isNew ? delayMs : Math.max(this.#worstMs[index] ?? 0, delayMs);
  }
}
