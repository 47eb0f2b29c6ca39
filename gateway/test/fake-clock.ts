import type { Clock } from "#ports/index.ts";

interface Timer {
  readonly dueMs: number;
  readonly act: () => void;
}

/**
 * A clock that moves only when a test moves it. `advance` runs timers that become due, by time and then by creation,
 * including timers created meanwhile. `jump` moves only the wall clock, as an operator might.
 */
export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  #wallMs: number;
  #monotonicMs = 0;

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#wallMs = startMs;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  after(delayMs: number, act: () => void): () => void {
    const timer: Timer = { dueMs: this.#monotonicMs + Math.max(0, delayMs), act };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    const endMs = this.#monotonicMs + ms;
    for (let timer = this.#nextDue(endMs); timer !== null; timer = this.#nextDue(endMs)) {
      this.#timers.delete(timer);
      this.#moveTo(timer.dueMs);
      timer.act();
    }
    this.#moveTo(endMs);
  }

  jump(ms: number): void {
    this.#wallMs += ms;
  }

  /** The number of pending timers: 0 if none was leaked. */
  get pending(): number {
    return this.#timers.size;
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  /** A set keeps insertion order, so the earliest of equal timers comes first. */
  #nextDue(endMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers) {
      if (timer.dueMs <= endMs && (next === null || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }
}
