import { expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import { clockTrustMs, steadyClock } from "./system-clock.ts";

const day = 86_400_000;

function steady() {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const time = steadyClock(clock, { log: (_level, message) => void warnings.push(message) });
  return { clock, time, warnings, startMs: clock.now() };
}

test("follows the wall clock and small corrections", () => {
  const { clock, time, warnings } = steady();
  for (let step = 0; step < 100; step++) {
    clock.advance(3_600_000);
    clock.jump(step % 2 === 0 ? 900 : -1_100);
    expect(time.now()).toBe(clock.now());
  }
  expect(warnings).toEqual([]);
});

test.each([31 * day, -2 * day])("ignores a clock that is set by %d ms and back within minutes", (byMs) => {
  const { clock, time, warnings, startMs } = steady();
  clock.jump(byMs);
  for (let minute = 0; minute < 9; minute++) {
    expect(Math.abs(time.now() - startMs - minute * 60_000)).toBeLessThanOrEqual(1);
    clock.advance(60_000);
  }
  clock.jump(-byMs);
  expect(time.now()).toBe(clock.now());
  expect(warnings).toHaveLength(1);
});

test.each([31 * day, -2 * day])("follows a clock that stays set by %d ms after a while", (byMs) => {
  const { clock, time, startMs } = steady();
  clock.jump(byMs);
  expect(time.now()).toBe(startMs);
  clock.advance(clockTrustMs);
  expect(time.now()).toBe(clock.now());
});

test("follows a clock that is set repeatedly only when it is stable", () => {
  const { clock, time } = steady();
  for (let jump = 0; jump < 20; jump++) {
    clock.jump(day);
    const before = time.now();
    clock.advance(clockTrustMs / 2);
    expect(time.now() - before).toBe(clockTrustMs / 2);
  }
  clock.advance(clockTrustMs);
  expect(time.now()).toBe(clock.now());
});
