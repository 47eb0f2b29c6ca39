import { expect, test } from "bun:test";
import { quietUntil } from "./quiet-hours.ts";

const at = (text: string) => Date.parse(text);
const night = { from: "22:00", to: "07:00", time_zone: "Europe/Berlin" };
const until = (hours: Parameters<typeof quietUntil>[0], text: string) => {
  const end = quietUntil(hours, at(text));
  return end === null ? null : new Date(end).toISOString();
};

test("quiet hours may span midnight in their time zone", () => {
  expect(until(night, "2026-01-10T20:59:59Z")).toBeNull();
  expect(until(night, "2026-01-10T21:00:00Z")).toBe("2026-01-11T06:00:00.000Z");
  expect(until(night, "2026-01-11T05:59:30Z")).toBe("2026-01-11T06:00:00.000Z");
  expect(until(night, "2026-01-11T06:00:00Z")).toBeNull();
});

test("quiet hours end at the local time on both days of the clock change", () => {
  // 2026-03-29: 02:00 becomes 03:00. 2026-10-25: 03:00 becomes 02:00.
  expect(until(night, "2026-03-28T22:00:00Z")).toBe("2026-03-29T05:00:00.000Z");
  expect(until(night, "2026-10-24T21:00:00Z")).toBe("2026-10-25T06:00:00.000Z");
  const gap = { from: "01:00", to: "02:30", time_zone: "Europe/Berlin" };
  // 02:30 does not exist on this day; the first later minute is 03:00.
  expect(until(gap, "2026-03-29T00:10:00Z")).toBe("2026-03-29T01:00:00.000Z");
});

test("quiet hours within a day, to the minute, and in a zone with an odd offset", () => {
  const lunch = { from: "12:10", to: "13:20", time_zone: "Asia/Kathmandu" };
  expect(until(lunch, "2026-06-01T06:25:00Z")).toBe("2026-06-01T07:35:00.000Z");
  expect(until(lunch, "2026-06-01T07:35:00Z")).toBeNull();
  expect(until({ ...lunch, to: "12:10" }, "2026-06-01T06:25:00Z")).toBeNull();
  expect(until(null, "2026-06-01T06:25:00Z")).toBeNull();
});
