import { expect, test } from "bun:test";
import { budgetMarks } from "./budget-marks.ts";

const dayMs = 86_400_000;
const december = Date.UTC(2026, 11);
const forecast = { at_period_end: 60, exhausted_at: null };

test("a monthly budget and its forecast are even amounts a day, and whole for bars of months", () => {
  const budget = { limit: 30, period: "month", rolling: false, resets_at: december, forecast } as const;
  const daily = budgetMarks(budget, dayMs);
  expect(daily.map(({ kind, value }) => [kind, value])).toEqual([
    ["budget", 1],
    ["forecast", 2],
  ]);
  expect(daily[0]?.label).toBe("Budget: $1.00 a day ($30.00 a month)");
  expect(budgetMarks(budget, "month").map(({ label }) => label)).toEqual([
    "Budget: $30.00 a month",
    "Forecast: $60.00 a month",
  ]);
});

test("a daily budget counts once for each day of a month, and a part of an hour", () => {
  const budget = { limit: 24, period: "day", rolling: false, resets_at: december, forecast: null } as const;
  expect(budgetMarks(budget, "month").map(({ value }) => value)).toEqual([720]);
  expect(budgetMarks(budget, dayMs / 24).map(({ value }) => value)).toEqual([1]);
});

test("a budget that never resets has no line", () => {
  expect(budgetMarks({ limit: 5, period: "total", rolling: false, resets_at: null, forecast }, dayMs)).toEqual([]);
});
