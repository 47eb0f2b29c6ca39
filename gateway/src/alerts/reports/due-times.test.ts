import { expect, test } from "bun:test";
import { intervalBefore, lastDue, nextDue, type ReportTimes } from "./due-times.ts";

const at = (text: string) => Date.parse(text);
const text = (moment: number) => new Date(moment).toISOString().slice(0, 16);

const daily: ReportTimes = { every: "day", day: null, hour: 8, time_zone: "Europe/Berlin" };
const weekly: ReportTimes = { every: "week", day: 1, hour: 8, time_zone: "UTC" };
const monthly: ReportTimes = { every: "month", day: 31, hour: 0, time_zone: "Asia/Shanghai" };

test("finds the next and the last time of a schedule", () => {
  expect(text(nextDue(daily, at("2026-01-01T06:59Z")))).toBe("2026-01-01T07:00");
  expect(text(nextDue(daily, at("2026-01-01T07:00Z")))).toBe("2026-01-02T07:00");
  expect(text(lastDue(daily, at("2026-01-02T07:00Z")))).toBe("2026-01-02T07:00");
  expect(text(nextDue(weekly, at("2026-01-01T00:00Z")))).toBe("2026-01-05T08:00");
  expect(text(lastDue(weekly, at("2026-01-05T07:59Z")))).toBe("2025-12-29T08:00");
});

test("sends on the last day of a month without that day", () => {
  const times: string[] = [];
  for (let moment = at("2026-01-15T00:00Z"); times.length < 4; ) {
    moment = nextDue(monthly, moment);
    times.push(text(moment));
  }
  expect(times).toEqual(["2026-01-30T16:00", "2026-02-27T16:00", "2026-03-30T16:00", "2026-04-29T16:00"]);
});

test("keeps the local hour across a clock change, also for an hour that clocks skip or show twice", () => {
  expect(text(nextDue(daily, at("2026-03-28T12:00Z")))).toBe("2026-03-29T06:00");
  const skipped = { ...daily, hour: 2 };
  expect(text(nextDue(skipped, at("2026-03-28T12:00Z")))).toBe("2026-03-29T01:00");
  expect(text(nextDue(skipped, at("2026-03-29T01:00Z")))).toBe("2026-03-30T00:00");
  expect(text(nextDue(skipped, at("2026-10-24T12:00Z")))).toBe("2026-10-25T00:00");
  expect(text(nextDue(skipped, at("2026-10-25T00:00Z")))).toBe("2026-10-26T01:00");
});

test("covers the whole days since the previous time, without gaps", () => {
  const { from, to, compared } = intervalBefore(daily, at("2026-03-30T06:00Z"));
  expect([from, to].map(text)).toEqual(["2026-03-28T23:00", "2026-03-29T22:00"]);
  expect([compared.from, compared.to].map(text)).toEqual(["2026-03-27T23:00", "2026-03-28T23:00"]);
  const first = { ...monthly, day: 1, hour: 9 };
  const month = intervalBefore(first, lastDue(first, at("2026-03-05T00:00Z")));
  expect([month.compared.from, month.from, month.to].map(text)).toEqual([
    "2025-12-31T16:00",
    "2026-01-31T16:00",
    "2026-02-28T16:00",
  ]);
});
