import type { Clock } from "#ports/index.ts";

/** The time of the replayed calls. It has no timers: admission uses them only to bound its waits for a ledger. */
export class ReplayClock implements Clock {
  #nowMs: number;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  after(): () => void {
    return () => undefined;
  }

  /** Never goes back. */
  moveTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms);
  }
}
