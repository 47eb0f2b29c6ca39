import { expect, test } from "bun:test";
import { calendarSpan } from "./calendar-ranges.ts";

const at = (text: string) => Date.parse(`${text}Z`);
const now = at("2026-03-18T10:30:00"); // A Wednesday.
const span = (name: Parameters<typeof calendarSpan>[0], moment = now) => {
  const { from, to, compared } = calendarSpan(name, moment, true);
  return [from, to, compared.from, compared.to].map((each) => new Date(each).toISOString().slice(0, 16));
};

test("a calendar unit that is over is compared with the whole unit before it", () => {
  expect(span("yesterday")).toEqual(["2026-03-17T00:00", "2026-03-18T00:00", "2026-03-16T00:00", "2026-03-17T00:00"]);
  expect(span("last_week")).toEqual(["2026-03-09T00:00", "2026-03-16T00:00", "2026-03-02T00:00", "2026-03-09T00:00"]);
  expect(span("last_month")).toEqual(["2026-02-01T00:00", "2026-03-01T00:00", "2026-01-01T00:00", "2026-02-01T00:00"]);
});

test("a calendar unit that runs ends now, and is compared with as much of the unit before it", () => {
  expect(span("today")).toEqual(["2026-03-18T00:00", "2026-03-18T10:30", "2026-03-17T00:00", "2026-03-17T10:30"]);
  expect(span("this_week")).toEqual(["2026-03-16T00:00", "2026-03-18T10:30", "2026-03-09T00:00", "2026-03-11T10:30"]);
  expect(span("this_month")).toEqual(["2026-03-01T00:00", "2026-03-18T10:30", "2026-02-01T00:00", "2026-02-18T10:30"]);
  // February has no 31st day.
  expect(span("this_month", at("2026-03-31T12:00:00"))[3]).toBe("2026-03-01T00:00");
  // A Sunday belongs to the week that began on Monday.
  expect(span("this_week", at("2026-03-22T12:00:00"))[0]).toBe("2026-03-16T00:00");
});

test("days of the browser's time zone begin at its midnight", () => {
  const { from, to } = calendarSpan("yesterday", now, false);
  expect([new Date(from).getHours(), new Date(to).getHours()]).toEqual([0, 0]);
  expect(new Date(from).getDate()).toBe(new Date(to - 1).getDate());
});
