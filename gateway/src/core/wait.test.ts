import { expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import { StalledLoop } from "../../test/stalled-loop.ts";
import { bounds } from "./bounds.ts";
import { afterRunningFor, Sleeper, sleep, waitSlices, waitUntil, within } from "./wait.ts";

test("a sleep ends by its time or its signal, and leaves no timer", async () => {
  const clock = new FakeClock();
  const timed = sleep(clock, 10, null);
  clock.advance(10);
  await timed;
  const leaving = new AbortController();
  const cut = sleep(clock, 10, leaving.signal);
  leaving.abort();
  await cut;
  await sleep(clock, 10, leaving.signal);
  expect(clock.pending).toBe(0);
});

test("limits the wait for work; late work continues, and its failure is ignored", async () => {
  const clock = new FakeClock();
  expect(await within(clock, 10, Promise.resolve(1), () => null)).toBe(1);
  expect(within(clock, 10, Promise.reject(new Error("failed")), () => null)).rejects.toThrow("failed");
  const work = Promise.withResolvers<number>();
  const late = within(clock, 10, work.promise, () => null);
  clock.advance(10);
  expect(await late).toBe(null);
  const leaving = new AbortController();
  const left = within(clock, 10, work.promise, () => "left", leaving.signal);
  leaving.abort();
  expect(await left).toBe("left");
  const refused = within(clock, 10, work.promise, () => {
    throw new Error("late");
  });
  clock.advance(10);
  expect(refused).rejects.toThrow("late");
  work.reject(new Error("too late"));
  await refused.catch(() => undefined);
  expect(clock.pending).toBe(0);
});

test("waits until a condition holds or the time is over", async () => {
  const clock = new FakeClock();
  const never = waitUntil(clock, 30, () => false);
  for (let turn = 0; turn < 4; turn++) {
    clock.advance(20);
    await Promise.resolve();
  }
  await never;
  await waitUntil(clock, 30, () => true);
  expect(clock.pending).toBe(0);
});

test("a sleeper can be woken, and does not sleep after its end", async () => {
  const clock = new FakeClock();
  const sleeper = new Sleeper(clock);
  const woken = sleeper.sleep(10);
  sleeper.wake();
  await woken;
  const ended = sleeper.sleep(10);
  sleeper.end();
  await ended;
  await sleeper.sleep(10);
  expect(clock.pending).toBe(0);
});

test("does not expire waits while the event loop is blocked, and expires them only after their time", () => {
  const loop = new StalledLoop();
  let expired = 0;
  afterRunningFor(loop, bounds.redisAnswerMs, () => expired++);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  expect(expired).toBe(0);
  const sliceMs = bounds.redisAnswerMs / waitSlices;
  for (let slice = 2; slice < waitSlices; slice++) loop.turnAfter(sliceMs);
  loop.turnAfter(sliceMs - 1);
  expect(expired).toBe(0);
  loop.turnAfter(1);
  loop.turnAfter(0);
  expect(expired).toBe(1);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  expect(expired).toBe(1);
});

test("a wait that ends within a slice expires nothing", () => {
  const loop = new StalledLoop();
  let expired = 0;
  const stop = afterRunningFor(loop, bounds.redisAnswerMs, () => expired++);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  stop();
  for (let slice = 0; slice < 2 * waitSlices; slice++) loop.turnAfter(bounds.redisAnswerMs);
  expect(expired).toBe(0);
});

test("accepts an answer that arrived while the loop was blocked in the last slice", () => {
  const loop = new StalledLoop();
  let expired = 0;
  const stop = afterRunningFor(loop, bounds.redisAnswerMs, () => expired++);
  for (let slice = 1; slice < waitSlices; slice++) loop.turnAfter(bounds.redisAnswerMs / waitSlices);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  // The event loop continues with data that waits in its sockets.
  stop();
  loop.turnAfter(0);
  expect(expired).toBe(0);
});
