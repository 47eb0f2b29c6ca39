import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";

/**
 * The machine's clock, which a test may put forward: what has fallen due by then runs at once. So a time-out that is long
 * for any machine strikes exactly when there is something for it to strike.
 */
export class MovedClock implements Clock {
  readonly #timers = new Map<() => void, number>();
  #laterMs = 0;

  now(): number {
    return systemClock.now() + this.#laterMs;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#laterMs;
  }

  after(delayMs: number, act: () => void): () => void {
    const run = () => {
      unbook();
      act();
    };
    const unbookMachine = systemClock.after(delayMs, run);
    const unbook = () => {
      unbookMachine();
      this.#timers.delete(run);
    };
    this.#timers.set(run, this.monotonic() + delayMs);
    return unbook;
  }

  move(ms: number): void {
    this.#laterMs += ms;
    const due = [...this.#timers].filter(([, dueMs]) => dueMs <= this.monotonic());
    for (const [run] of due.sort(([, one], [, other]) => one - other)) if (this.#timers.has(run)) run();
  }
}
