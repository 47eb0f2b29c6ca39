import type { Clock } from "#ports/index.ts";

/** A loop that runs its timers only when a test lets it, however late that is. */
export class StandingLoop implements Clock {
  #atMs = 0;
  #timers: { readonly dueMs: number; readonly act: () => void }[] = [];

  now(): number {
    return this.#atMs;
  }

  monotonic(): number {
    return this.#atMs;
  }

  after(delayMs: number, act: () => void): () => void {
    const timer = { dueMs: this.#atMs + delayMs, act };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** Nothing runs for so long; then one turn of what is due. */
  turnAfter(ms: number): void {
    this.#atMs += ms;
    const due = this.#timers.filter(({ dueMs }) => dueMs <= this.#atMs);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { act } of due) act();
  }
}
