import { expect, test } from "bun:test";
import { timeSpanOf } from "./use-time-range.ts";

const now = 1_800_000_000_000;
const dayMs = 86_400_000;

test("a named time ends now, by the minute up to six hours, by the hour up to seven days and by the day above", () => {
  expect(timeSpanOf({ range: "7d" }, now, "24h")).toEqual({ name: "7d", from: now - 7 * dayMs, to: now, step: "hour" });
  expect(timeSpanOf({ range: "6h" }, now, "24h").step).toBe("minute");
  expect(timeSpanOf({ from: "0", to: `${dayMs / 4 + 1}` }, now, "24h").step).toBe("hour");
  expect(timeSpanOf({ range: "30d" }, now, "24h").step).toBe("day");
});

test("a custom range is kept, and an invalid one falls back to the default", () => {
  expect(timeSpanOf({ from: "10", to: "20", range: "7d" }, now, "24h")).toEqual({
    name: null,
    from: 10,
    to: 20,
    step: "minute",
  });
  for (const search of [
    { from: "20", to: "10" },
    { from: "x", to: "10" },
    { from: "10" },
    { range: "constructor" },
    {},
  ]) {
    expect(timeSpanOf(search, now, "24h")).toEqual({ name: "24h", from: now - dayMs, to: now, step: "hour" });
  }
});
