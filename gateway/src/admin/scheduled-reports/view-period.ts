import type { Period } from "#alerts/index.ts";
import { localDays, momentOf, openTimeZone } from "#core/index.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Periods of the usage page that end now. */
const lengths: Readonly<Record<string, number>> = {
  "1h": hourMs,
  "6h": 6 * hourMs,
  "24h": dayMs,
  "7d": 7 * dayMs,
  "30d": 30 * dayMs,
  "90d": 90 * dayMs,
};

/** Calendar units of the usage page, and how many units before the current one. */
const units: Readonly<Record<string, readonly ["day" | "week" | "month", number]>> = {
  today: ["day", 0],
  yesterday: ["day", 1],
  this_week: ["week", 0],
  last_week: ["week", 1],
  this_month: ["month", 0],
  last_month: ["month", 1],
};

export interface ComparedPeriod extends Period {
  readonly compared: Period;
}

/**
 * The period that the usage page shows for these URL parameters at a moment, in whole hours. A unit that runs ends at the moment, and is
 * compared with the same part of the unit before.
 */
export function viewPeriod(state: Readonly<Record<string, string>>, now: number, timeZone: string): ComparedPeriod {
  const to = Math.floor(now / hourMs) * hourMs;
  const { range = "30d", from, to: until } = state;
  if (from !== undefined && until !== undefined && /^\d{1,15}$/.test(from) && /^\d{1,15}$/.test(until)) {
    return before(hour(Number(from)), hour(Number(until)));
  }
  const unit = units[range];
  if (unit === undefined) return before(to - (lengths[range] ?? 30 * dayMs), to);
  const [kind, back] = unit;
  const start = unitStarts(kind, now, state["tz"] === "utc" ? "UTC" : timeZone);
  const begin = start(-back);
  // In its first hour, a unit that runs has no whole hour yet.
  const end = back > 0 ? start(1 - back) : Math.max(to, begin + hourMs);
  const earlier = start(-back - 1);
  const compared = { from: earlier, to: back > 0 ? begin : Math.min(earlier + (end - begin), begin) };
  return { from: begin, to: end, compared };
}

function before(from: number, to: number): ComparedPeriod {
  return { from, to, compared: { from: Math.max(0, from - (to - from)), to: from } };
}

function hour(at: number): number {
  return Math.ceil(at / hourMs) * hourMs;
}

/** The start of the unit that is a number of units after the current one. Weeks begin on Monday. */
function unitStarts(unit: "day" | "week" | "month", now: number, timeZone: string): (after: number) => number {
  const zone = openTimeZone(timeZone);
  const today = new Date(localDays(zone, now, now + 1)[0]?.local ?? now);
  const [year, month, day, weekday] = [
    today.getUTCFullYear(),
    today.getUTCMonth(),
    today.getUTCDate(),
    (today.getUTCDay() + 6) % 7,
  ];
  return (after) => {
    if (unit === "month") return hour(momentOf(zone, Date.UTC(year, month + after)));
    const first = unit === "day" ? day + after : day - weekday + 7 * after;
    return hour(momentOf(zone, Date.UTC(year, month, first)));
  };
}
