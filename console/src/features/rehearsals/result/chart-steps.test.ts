import { expect, test } from "bun:test";
import { stepsOf } from "./chart-steps.ts";

const hourMs = 3_600_000;
const day = Date.UTC(2026, 10, 1);
const hour = (at: number, refused: number) => ({
  ...{ at, refused, calls: 10 },
  ...{ recorded_nano_usd: "2000000000", rehearsed_nano_usd: "500000000" },
});

test("hours without requests are steps too", () => {
  const hours = [hour(day + hourMs, 3), hour(day + 3 * hourMs, 4)];
  const { at, ...steps } = stepsOf(hours, { from: day + hourMs + 5, to: day + 4 * hourMs });
  expect(at).toEqual([1, 2, 3].map((each) => day + each * hourMs));
  expect(steps).toEqual({ stepMs: hourMs, refused: [3, 0, 4], recorded: [2, 0, 2], rehearsed: [0.5, 0, 0.5] });
});

test("long periods are drawn by day", () => {
  const hours = [hour(day, 1), hour(day + 23 * hourMs, 2), hour(day + 24 * hourMs, 4)];
  const { at, stepMs, refused, recorded } = stepsOf(hours, { from: day, to: day + 30 * 24 * hourMs });
  expect([at.length, stepMs]).toEqual([30, 24 * hourMs]);
  expect([refused.slice(0, 3), recorded.slice(0, 3)]).toEqual([
    [3, 4, 0],
    [4, 2, 0],
  ]);
});
