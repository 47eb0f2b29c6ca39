import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { afterRunningFor } from "./running-time.ts";

/** A loop that runs its timers only when a test lets it, however late that is. */
class StandingLoop implements Clock {
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

test("while the loop stands still nobody is judged; one who is silent while it runs is, and not before the time is over", () => {
  const loop = new StandingLoop();
  let judged = 0;
  afterRunningFor(loop, bounds.redisAnswerMs, () => judged++);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  expect(judged).toBe(0);
  const sliceMs = bounds.redisAnswerMs / bounds.redisWaitSlices;
  for (let slice = 2; slice < bounds.redisWaitSlices; slice++) loop.turnAfter(sliceMs);
  loop.turnAfter(sliceMs - 1);
  expect(judged).toBe(0);
  loop.turnAfter(1);
  expect(judged).toBe(1);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  expect(judged).toBe(1);
});

test("a wait that is over in any slice judges nobody", () => {
  const loop = new StandingLoop();
  let judged = 0;
  const stop = afterRunningFor(loop, bounds.redisAnswerMs, () => judged++);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  stop();
  for (let slice = 0; slice < 2 * bounds.redisWaitSlices; slice++) loop.turnAfter(bounds.redisAnswerMs);
  expect(judged).toBe(0);
});
