/** A calendar unit, and how many units before the current one. */
const calendarRanges = {
  today: ["day", 0],
  yesterday: ["day", 1],
  this_week: ["week", 0],
  last_week: ["week", 1],
  this_month: ["month", 0],
  last_month: ["month", 1],
} as const satisfies Record<string, readonly ["day" | "week" | "month", 0 | 1]>;

export type CalendarRange = keyof typeof calendarRanges;
export const calendarRangeNames = Object.keys(calendarRanges) as CalendarRange[];

export function isCalendarRange(text: string): text is CalendarRange {
  return Object.hasOwn(calendarRanges, text);
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

interface CalendarSpan extends Span {
  /** The unit before. While the unit runs, the same length of it. */
  readonly compared: Span;
  readonly step: "hour" | "day";
}

/** A calendar unit in UTC or in the browser's time zone. A unit that runs ends now. Weeks begin on Monday. */
export function calendarSpan(name: CalendarRange, now: number, utc: boolean): CalendarSpan {
  const [unit, back] = calendarRanges[name];
  const start = (units: number) => startOf(unit, now, units, utc);
  const from = start(-back);
  const end = start(1 - back);
  const to = Math.min(end, now);
  const before = start(-back - 1);
  const compared = { from: before, to: to === end ? from : Math.min(before + (to - from), from) };
  return { from, to, compared, step: unit === "day" ? "hour" : "day" };
}

/** The start of the unit that is `units` after the one of `now`. */
function startOf(unit: "day" | "week" | "month", now: number, units: number, utc: boolean): number {
  const date = new Date(now);
  const [year, month, day, weekday] = utc
    ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), date.getUTCDay()]
    : [date.getFullYear(), date.getMonth(), date.getDate(), date.getDay()];
  const at = (months: number, days: number) =>
    utc ? Date.UTC(year, months, days) : new Date(year, months, days).getTime();
  if (unit === "month") return at(month + units, 1);
  if (unit === "week") return at(month, day - ((weekday + 6) % 7) + 7 * units);
  return at(month, day + units);
}
