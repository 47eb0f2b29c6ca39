import type { BudgetPeriod } from "#core/index.ts";

const dayMs = 86_400_000;
/** 1 January 1970 was a Thursday, three days after a Monday. */
const epochWeekday = 3;

/** When the period that holds `nowMs` began, in UTC. A week begins on Monday; `total` began at 0. Unix milliseconds. */
export function periodStart(period: BudgetPeriod, nowMs: number): number {
  if (period === "total") return 0;
  if (period === "month") return monthOf(nowMs).startMs;
  const day = Math.floor(nowMs / dayMs);
  return (period === "day" ? day : day - ((day + epochWeekday) % 7)) * dayMs;
}

/** When that period ends and the next one begins; null for `total`, which does not end. */
export function periodEnd(period: BudgetPeriod, nowMs: number): number | null {
  if (period === "total") return null;
  if (period === "month") return monthOf(nowMs).endMs;
  return periodStart(period, nowMs) + (period === "day" ? 1 : 7) * dayMs;
}

/** Cached: most times are of the same month. */
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
