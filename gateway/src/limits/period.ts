import type { BudgetPeriod } from "#core/index.ts";

const dayMs = 86_400_000;
/** 1 January 1970 was a Thursday, three days after a Monday. */
const epochWeekday = 3;

/** When the period that holds `nowMs` began, in UTC. A week begins on Monday; `total` began at 0. Unix milliseconds. */
export function periodStart(period: BudgetPeriod, nowMs: number): number {
  const day = Math.floor(nowMs / dayMs);
  switch (period) {
    case "total":
      return 0;
    case "day":
      return day * dayMs;
    case "week":
      return (day - ((day + epochWeekday) % 7)) * dayMs;
    case "month":
      return monthOf(nowMs).startMs;
  }
}

/** When that period ends and the next one begins; null for `total`, which does not end. */
export function periodEnd(period: BudgetPeriod, nowMs: number): number | null {
  switch (period) {
    case "total":
      return null;
    case "day":
      return periodStart("day", nowMs) + dayMs;
    case "week":
      return periodStart("week", nowMs) + 7 * dayMs;
    case "month":
      return monthOf(nowMs).endMs;
  }
}

/** Most that is asked about is in the same month as what was asked about before. */
function monthOf(nowMs: number): { readonly startMs: number; readonly endMs: number } {
  if (!(nowMs >= month.startMs && nowMs < month.endMs)) {
    month = { startMs: monthStart(nowMs, 0), endMs: monthStart(nowMs, 1) };
  }
  return month;
}

let month = { startMs: 0, endMs: 0 };

function monthStart(nowMs: number, monthsLater: number): number {
  const date = new Date(nowMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater, 1);
}
