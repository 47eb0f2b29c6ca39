import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { LoopDelay } from "./loop-delay.ts";

test("reports a blocked loop for a minute to every reader, and none that is on time", () => {
  const clock = new FakeClock();
  // The loop is blocked: time passes without timers.
  let heldMs = 0;
  const held = { now: () => clock.now(), monotonic: () => clock.monotonic() + heldMs, after: clock.after.bind(clock) };
  const delay = new LoopDelay(held, () => true);
  clock.advance(10 * bounds.loopSampleMs);
  expect(delay.worst()).toBe(0);
  heldMs += 3_000;
  clock.advance(bounds.loopSampleMs);
  // Two Prometheus servers, a collector, and the console.
  for (let asked = 0; asked < 4; asked++) expect(delay.worst()).toBeCloseTo(3, 5);
  clock.advance(bounds.loopWindowMs);
  expect(delay.worst()).toBeCloseTo(3, 5);
  heldMs += 1_000;
  expect(delay.worst()).toBeCloseTo(3, 5);
  clock.advance(2 * bounds.loopSlotMs);
  expect(delay.worst()).toBeCloseTo(1, 5);
  delay.close();
  expect(clock.pending).toBe(0);
});

test("checks the loop rarely while idle, and often again with calls", () => {
  const clock = new FakeClock();
  let busy = false;
  let booked = 0;
  const counting = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms: number, act: () => void) => {
      booked++;
      return clock.after(ms, act);
    },
  };
  const delay = new LoopDelay(counting, () => busy);
  clock.advance(60_000);
  const idle = booked;
  expect(idle).toBeLessThanOrEqual(60_000 / bounds.loopIdleSampleMs + 1);
  busy = true;
  clock.advance(bounds.loopIdleSampleMs);
  booked = 0;
  clock.advance(10 * bounds.loopSampleMs);
  expect(booked).toBe(10);
  delay.close();
});
