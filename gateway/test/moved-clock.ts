import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";

/**
 * The machine's clock, which a test can advance: timers due by then run at once. So a timeout that is too long to wait
 * for fires exactly when the test needs it.
 */
export class MovedClock implements Clock {
  readonly #timers = new Map<() => void, number>();
  #laterMs = 0;

  now(): number {
    return Math.floor(systemClock.now() + this.#laterMs);
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

  /** Advances the time step by step: each timer on the way runs at its time. */
  move(ms: number): void {
    const endMs = this.#laterMs + ms;
    for (let next = this.#nextDue(endMs); next !== null; next = this.#nextDue(endMs)) {
      const [run, dueMs] = next;
      this.#laterMs += Math.max(0, dueMs - this.monotonic());
      run();
    }
    this.#laterMs = endMs;
  }

  #nextDue(endMs: number): readonly [run: () => void, dueMs: number] | null {
    const untilMs = this.monotonic() + endMs - this.#laterMs;
    let next: readonly [() => void, number] | null = null;
    for (const timer of this.#timers) if (timer[1] <= untilMs && (next === null || timer[1] < next[1])) next = timer;
    return next;
  }
}
