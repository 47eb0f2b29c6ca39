import { expect, test } from "bun:test";
import { timeSpanOf } from "./use-time-range.ts";

const now = 1_800_000_000_000;
const dayMs = 86_400_000;

test("a named time ends now, by the minute up to six hours, by the hour up to seven days and by the day above", () => {
  expect(timeSpanOf({ range: "7d" }, now, "24h")).toEqual({
    name: "7d",
    from: now - 7 * dayMs,
    to: now,
    step: "hour",
    compared: { from: now - 14 * dayMs, to: now - 7 * dayMs },
    utc: false,
  });
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
    compared: { from: 0, to: 10 },
    utc: false,
  });
  for (const search of [
    { from: "20", to: "10" },
    { from: "x", to: "10" },
    { from: "10" },
    { range: "constructor" },
    {},
  ]) {
    expect(timeSpanOf(search, now, "24h")).toMatchObject({ name: "24h", from: now - dayMs, to: now, step: "hour" });
  }
});

test("a calendar range is compared with the unit before it, in UTC with the URL parameter `tz=utc`", () => {
  const { name, from, to, compared, step, utc } = timeSpanOf({ range: "last_month", tz: "utc" }, now, "24h");
  expect([name, step, utc]).toEqual(["last_month", "day", true]);
  const days = [from, to, compared.from, compared.to].map((each) => new Date(each).toISOString().slice(0, 10));
  expect(days).toEqual(["2026-12-01", "2027-01-01", "2026-11-01", "2026-12-01"]);
});
