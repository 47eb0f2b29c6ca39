import type { Clock } from "#ports/index.ts";

/** An event loop that runs its timers only when a test says so, however late. */
export class StalledLoop implements Clock {
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

  /** Stalls for this long, then runs one turn of due timers. */
  turnAfter(ms: number): void {
    this.#atMs += ms;
    const due = this.#timers.filter(({ dueMs }) => dueMs <= this.#atMs);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { act } of due) act();
  }
}
