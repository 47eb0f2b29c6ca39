import { expect, test } from "bun:test";
import { monthsBefore, spendByDay, spendByMonth } from "./months.ts";

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

test("a month starts on its first day, also in the previous year", () => {
  expect(monthsBefore(day("2026-02-28"), 0)).toBe(day("2026-02-01"));
  expect(monthsBefore(day("2026-02-28"), 11)).toBe(day("2025-03-01"));
});

test("days are summed by month, each line apart; a day without calls costs nothing", () => {
  const daily = {
    at: [day("2026-01-30"), day("2026-01-31"), day("2026-02-01"), day("2026-02-02")],
    series: [
      { id: "a", label: "A", points: { cost_usd: [1, 2, 4, null] } },
      { id: "b", label: "B", points: { cost_usd: [null, null, null, 8] } },
    ],
  };
  expect(spendByDay(daily).series.map(({ values }) => values)).toEqual([
    [1, 2, 4, 0],
    [0, 0, 0, 8],
  ]);
  expect(spendByMonth(daily)).toEqual({
    at: [new Date(2026, 0).getTime(), new Date(2026, 1).getTime()],
    series: [
      { id: "a", label: "A", values: [3, 4] },
      { id: "b", label: "B", values: [0, 8] },
    ],
  });
});
