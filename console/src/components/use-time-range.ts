import { useEffect, useMemo, useState } from "react";
import { locale } from "../language/chosen.ts";
import { useUrlSearch } from "../routes/search.ts";
import { type CalendarRange, calendarSpan, isCalendarRange, type Span } from "./calendar-ranges.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;

export const rangeLengths = {
  "1h": hourMs,
  "6h": 6 * hourMs,
  "24h": 24 * hourMs,
  "7d": 168 * hourMs,
  "30d": 720 * hourMs,
  "90d": 2_160 * hourMs,
} as const;
/** Lengths that end now, and calendar units. */
export type RangeName = keyof typeof rangeLengths | CalendarRange;

/** Times are Unix milliseconds. */
export interface TimeSpan {
  /** null: chosen manually. */
  readonly name: RangeName | null;
  readonly from: number;
  readonly to: number;
  /** Minutes up to six hours, hours up to seven days, days above. */
  readonly step: "minute" | "hour" | "day";
  /** The same length before, or the calendar unit before. */
  readonly compared: Span;
  /** Days are days in UTC, not in the browser's time zone. */
  readonly utc: boolean;
}

/** The browser's time zone. */
export const localZone = new Intl.DateTimeFormat(locale).resolvedOptions().timeZone;

/** The time range in the URL. A range that ends now advances every minute while the page is visible. */
export function useTimeRange(fallback: RangeName = "24h"): TimeSpan {
  const search = useUrlSearch();
  const now = useMinute();
  return useMemo(() => timeSpanOf(search, now, fallback), [search, now, fallback]);
}

export function timeSpanOf(
  search: { readonly [name: string]: string | undefined },
  now: number,
  fallback: RangeName,
): TimeSpan {
  const from = momentOf(search["from"]);
  const to = momentOf(search["to"]);
  const utc = search["tz"] === "utc";
  const before = (span: Span) => ({ from: Math.max(0, span.from - (span.to - span.from)), to: span.from });
  if (from !== null && to !== null && from < to) {
    return { name: null, from, to, step: stepOf(to - from), compared: before({ from, to }), utc };
  }
  const urlRange = search["range"] ?? "";
  const name = isRange(urlRange) ? urlRange : fallback;
  if (isCalendarRange(name)) return { name, utc, ...calendarSpan(name, now, utc) };
  const span = { from: now - rangeLengths[name], to: now };
  return { name, ...span, step: stepOf(rangeLengths[name]), compared: before(span), utc };
}

function isRange(text: string): text is RangeName {
  return Object.hasOwn(rangeLengths, text) || isCalendarRange(text);
}

function stepOf(length: number): TimeSpan["step"] {
  if (length <= rangeLengths["6h"]) return "minute";
  return length <= rangeLengths["7d"] ? "hour" : "day";
}

function momentOf(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return null;
  return Number(text);
}

/** The end of the current minute, so that requests within a minute share a cached answer. */
export function useMinute(): number {
  const [minute, setMinute] = useState(nextMinute);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setMinute(nextMinute());
    }, minuteMs);
    return () => clearInterval(timer);
  }, []);
  return minute;
}

function nextMinute(): number {
  return Math.ceil(Date.now() / minuteMs) * minuteMs;
}
