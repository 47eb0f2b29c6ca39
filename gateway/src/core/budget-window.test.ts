import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  periodEnd,
  periodStart,
  rollingFrom,
  rollingOf,
  windowName,
  windowNamed,
  windowStart,
} from "./budget-window.ts";
import type { BudgetPeriod } from "./limit.ts";

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

const hourMs = 3_600_000;
const span = (window: Parameters<typeof periodStart>[0], now: number) => [
  new Date(periodStart(window, now)).toISOString(),
  new Date(periodEnd(window, now) ?? Number.NaN).toISOString(),
];

test("days of a time zone have 23 or 25 hours when its clocks change", () => {
  const day = { period: "day", timeZone: "Europe/Berlin" } as const;
  expect(span(day, at("2026-03-29T12:00:00Z"))).toEqual(["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"]);
  expect(span(day, at("2026-10-25T12:00:00Z"))).toEqual(["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]);
  const month = { period: "month", timeZone: "Europe/Berlin" } as const;
  expect(span(month, at("2026-03-31T21:59:59Z"))).toEqual(["2026-02-28T23:00:00.000Z", "2026-03-31T22:00:00.000Z"]);
  const week = { period: "week", timeZone: "America/New_York" } as const;
  expect(span(week, at("2026-11-01T05:30:00Z"))).toEqual(["2026-10-26T04:00:00.000Z", "2026-11-02T05:00:00.000Z"]);
});

test("a day begins when clocks jump over its midnight, and with the first of two midnights", () => {
  // Beirut skips 00:00 to 01:00 in March; Havana shows 00:00 to 01:00 twice in November.
  const beirut = { period: "day", timeZone: "Asia/Beirut" } as const;
  expect(periodStart(beirut, at("2026-03-29T12:00:00Z"))).toBe(at("2026-03-28T22:00:00Z"));
  const havana = { period: "day", timeZone: "America/Havana" } as const;
  expect(span(havana, at("2026-11-01T05:30:00Z"))).toEqual(["2026-11-01T04:00:00.000Z", "2026-11-02T05:00:00.000Z"]);
});

test("hours of a zone with a half hour begin at its full hours, also in an hour that clocks show twice", () => {
  expect(span({ period: "hour", timeZone: "Asia/Kolkata" }, at("2026-05-01T10:10:00Z"))).toEqual([
    "2026-05-01T09:30:00.000Z",
    "2026-05-01T10:30:00.000Z",
  ]);
  const berlin = { period: "hour", timeZone: "Europe/Berlin" } as const;
  expect(periodStart(berlin, at("2026-10-25T00:10:00Z"))).toBe(at("2026-10-25T00:00:00Z"));
  expect(periodStart(berlin, at("2026-10-25T01:10:00Z"))).toBe(at("2026-10-25T01:00:00Z"));
});

test("in every time zone, every moment belongs to exactly one period, and the next begins where it ends", () => {
  const zones = [
    "Europe/Berlin",
    "America/Havana",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kathmandu",
  ];
  const anyMoment = fc.integer({ min: at("2000-01-01T00:00:00Z"), max: at("2040-01-01T00:00:00Z") });
  const anyPeriod = fc.constantFrom<BudgetPeriod>("hour", "day", "week", "month");
  fc.assert(
    fc.property(anyPeriod, fc.constantFrom(...zones), anyMoment, (period, timeZone, now) => {
      const window = { period, timeZone };
      const start = periodStart(window, now);
      const end = periodEnd(window, now) ?? Number.NaN;
      expect(start <= now && now < end).toBe(true);
      expect(periodStart(window, start)).toBe(start);
      expect(periodStart(window, end - 1)).toBe(start);
      expect(periodStart(window, end)).toBe(end);
    }),
    { numRuns: 400 },
  );
});

test("a rolling window counts at least its length, and at most one bucket more", () => {
  for (const period of ["hour", "day", "week", "month"] as const) {
    const rolling = rollingOf({ period, rolling: true });
    if (rolling === null) throw new Error("it does not roll");
    for (const now of [0, 1, rolling.bucketMs - 1, rolling.bucketMs].map((ms) => at("2026-05-10T00:00:00Z") + ms)) {
      const counted = now - rollingFrom(rolling, now);
      expect(counted >= rolling.windowMs && counted < rolling.windowMs + rolling.bucketMs).toBe(true);
    }
    expect(rolling.bucketMs % hourMs === 0 || period === "hour").toBe(true);
  }
  expect(windowStart({ period: "hour", rolling: true }, at("2026-05-10T10:30:20Z"))).toBe(at("2026-05-10T09:30:00Z"));
});

test("a window is found again by its name", () => {
  for (const window of [
    { period: "month" },
    { period: "day", timeZone: "America/Argentina/Buenos_Aires" },
    { period: "week", rolling: true },
  ] as const) {
    expect(windowNamed(windowName(window))).toEqual(window);
  }
  expect(windowNamed("decade")).toBeNull();
});
