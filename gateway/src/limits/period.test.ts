import { expect, test } from "bun:test";
import fc from "fast-check";
import type { BudgetPeriod } from "#core/index.ts";
import { periodEnd, periodStart } from "./period.ts";

const at = (text: string): number => Date.parse(text);

test("periods are in UTC: days from midnight, weeks from Monday, months from the first", () => {
  const now = at("2026-03-01T13:14:15Z");
  expect(periodStart("day", now)).toBe(at("2026-03-01T00:00:00Z"));
  expect(periodStart("week", now)).toBe(at("2026-02-23T00:00:00Z"));
  expect(periodStart("month", now)).toBe(at("2026-03-01T00:00:00Z"));
  expect(periodStart("total", now)).toBe(0);
  expect(periodEnd("week", now)).toBe(at("2026-03-02T00:00:00Z"));
  expect(periodEnd("month", at("2026-12-31T23:59:59Z"))).toBe(at("2027-01-01T00:00:00Z"));
  expect(periodEnd("total", now)).toBeNull();
});

test("every moment belongs to exactly one period, and the next begins where it ends", () => {
  const anyMoment = fc.integer({ min: at("1999-01-01T00:00:00Z"), max: at("2101-01-01T00:00:00Z") });
  fc.assert(
    fc.property(fc.constantFrom<BudgetPeriod>("day", "week", "month"), anyMoment, (period, now) => {
      const start = periodStart(period, now);
      const end = periodEnd(period, now) ?? Number.NaN;
      expect(start <= now && now < end).toBe(true);
      expect(periodStart(period, start)).toBe(start);
      expect(periodStart(period, end - 1)).toBe(start);
      expect(periodStart(period, end)).toBe(end);
      if (period === "week") expect(new Date(start).getUTCDay()).toBe(1);
    }),
  );
});
