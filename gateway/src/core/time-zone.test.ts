import { expect, test } from "bun:test";
import { isTimeZone, localDays, openTimeZone, zoneOffsets } from "./time-zone.ts";

const hour = 3_600_000;
const iso = (at: number) => new Date(at).toISOString();

test("begins local days where clocks show midnight, also when daylight saving time begins and ends", () => {
  const berlin = openTimeZone("Europe/Berlin");
  const spring = localDays(berlin, Date.UTC(2026, 2, 27, 23), Date.UTC(2026, 2, 30, 22));
  expect(spring.map(({ at }) => iso(at))).toEqual([
    "2026-03-27T23:00:00.000Z",
    "2026-03-28T23:00:00.000Z",
    "2026-03-29T22:00:00.000Z",
  ]);
  const autumn = localDays(berlin, Date.UTC(2026, 9, 23, 22), Date.UTC(2026, 9, 26, 23));
  expect(autumn.map(({ at }) => at).map((at, place, all) => ((all[place + 1] ?? at) - at) / hour)).toEqual([24, 25, 0]);
});

test("begins days of zones with half hours, and where midnight is skipped", () => {
  const [first] = localDays(openTimeZone("Asia/Kolkata"), Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 2, 1));
  expect(iso(first?.at ?? 0)).toBe("2026-01-01T18:30:00.000Z");
  // Clocks in Beirut went from 00:00 to 01:00 on 29 March 2026.
  const beirut = localDays(openTimeZone("Asia/Beirut"), Date.UTC(2026, 2, 28, 22), Date.UTC(2026, 2, 30));
  expect(beirut.map(({ at }) => iso(at))).toEqual(["2026-03-28T22:00:00.000Z", "2026-03-29T21:00:00.000Z"]);
});

test("finds the moments at which the offset of a zone changes", () => {
  const zone = openTimeZone("America/New_York");
  const offsets = zoneOffsets(zone, Date.UTC(2026, 0, 1, 5, 17), Date.UTC(2027, 0, 1));
  expect(offsets.map(({ until, offsetMs }) => [until, offsetMs / hour])).toEqual([
    [Date.UTC(2026, 2, 8, 7), -5],
    [Date.UTC(2026, 10, 1, 6), -4],
    [Number.MAX_SAFE_INTEGER, -5],
  ]);
});

test("recognizes names of time zones", () => {
  expect(["UTC", "Asia/Shanghai", "Mars/Olympus", ""].map(isTimeZone)).toEqual([true, true, false, false]);
});
