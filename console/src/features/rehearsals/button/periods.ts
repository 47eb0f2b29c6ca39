import { calendarSpan, type Span } from "../../../components/calendar-ranges.ts";
import { rangeLengths } from "../../../components/use-time-range.ts";

export const rehearsalPeriods = ["24h", "7d", "30d", "this_month"] as const;
export type RehearsalPeriod = (typeof rehearsalPeriods)[number];

/** Ends now. The month begins at midnight in the browser's time zone. */
export function periodSpan(period: RehearsalPeriod, now: number): Span {
  if (period === "this_month") return { from: Math.min(calendarSpan(period, now, false).from, now - 1), to: now };
  return { from: now - rangeLengths[period], to: now };
}
