import { expect, test } from "bun:test";
import { momentTicks, valueTicks } from "./chart-axis.ts";

const hourMs = 3_600_000;

test("an axis of several days in hours writes each date once", () => {
  const at = Array.from({ length: 7 * 24 }, (_, hour) => new Date(2026, 10, 15, hour).getTime());
  const days = (momentTicks(at, hourMs) ?? []).map((moment) => new Date(moment).toDateString());
  expect(days).toHaveLength(7);
  expect(new Set(days).size).toBe(7);
});

test("one day in hours and a month in days show as many labels as fit", () => {
  const hours = Array.from({ length: 24 }, (_, hour) => hour * hourMs);
  const days = Array.from({ length: 30 }, (_, day) => day * 24 * hourMs);
  expect([momentTicks(hours, hourMs), momentTicks(days, 24 * hourMs)]).toEqual([undefined, undefined]);
});

test("the axis ends above the largest value, with few and round grid lines", () => {
  for (const greatest of [0.000_001, 0.3, 1, 7, 100, 999, 1_000, 2_150, 3_082, 1e9]) {
    const ticks = valueTicks(greatest);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1) ?? 0).toBeGreaterThan(greatest);
    expect(ticks.at(-1) ?? 0).toBeLessThan(greatest * 2.7);
    expect(ticks.length).toBeLessThanOrEqual(6);
  }
  expect(valueTicks(2_150)).toEqual([0, 1_000, 2_000, 3_000]);
  expect(valueTicks(0)).toEqual([0, 1]);
  expect(valueTicks(3, -1)).toEqual([-2, 0, 2, 4]);
  expect(valueTicks(0, -3)).toEqual([-4, -3, -2, -1, 0]);
});
