import type { BudgetPeriod, BudgetWindow } from "./limit.ts";
import { momentOf, openTimeZone, zoneTime } from "./time-zone.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** 1 January 1970 was a Thursday, three days after a Monday. */
const epochWeekday = 3;

/** When the calendar period that holds `nowMs` began. A week begins on Monday; `total` began at 0. Unix milliseconds. */
export function periodStart(window: Calendar | BudgetPeriod, nowMs: number): number {
  return spanOf(window, nowMs)?.startMs ?? 0;
}

/** When that period ends and the next one begins; null for `total`, which does not end. */
export function periodEnd(window: Calendar | BudgetPeriod, nowMs: number): number | null {
  return spanOf(window, nowMs)?.endMs ?? null;
}

/** A period alone is in UTC. */
type Calendar = Pick<BudgetWindow, "period" | "timeZone">;

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** null: `total`. Cached for each period and zone, because most times are of the same period. */
function spanOf(window: Calendar | BudgetPeriod, nowMs: number): Span | null {
  const { period, timeZone }: Calendar = typeof window === "string" ? { period: window } : window;
  if (period === "total") return null;
  const name = timeZone === undefined ? period : `${period}@${timeZone}`;
  const cached = spans.get(name);
  if (cached !== undefined && nowMs >= cached.startMs && nowMs < cached.endMs) return cached;
  const span =
    timeZone === undefined || timeZone === "UTC" ? utcSpan(period, nowMs) : zoneSpan(period, timeZone, nowMs);
  if (spans.size >= spansMax) spans.clear();
  spans.set(name, span);
  return span;
}

const spans = new Map<string, Span>();
const spansMax = 1_000;

function utcSpan(period: BudgetPeriod, nowMs: number): Span {
  return { startMs: localStart(period, nowMs, 0), endMs: localStart(period, nowMs, 1) };
}

/** A day that clocks change is an hour shorter or longer. */
function zoneSpan(period: BudgetPeriod, timeZone: string, nowMs: number): Span {
  const zone = openTimeZone(timeZone);
  const local = zoneTime(zone, nowMs);
  if (period === "hour") {
    // Clocks may show an hour twice, so hours are counted from the moment itself.
    const startMs = nowMs - (local - localStart("hour", local, 0));
    return { startMs, endMs: startMs + hourMs };
  }
  const startOf = (later: number): number => momentOf(zone, localStart(period, local, later));
  const endMs = startOf(1);
  // Clocks that were set back over midnight repeat the end of the earlier period.
  return nowMs < endMs ? { startMs: startOf(0), endMs } : { startMs: endMs, endMs: startOf(2) };
}

/** The start of the period that is `later` periods after the one of a local time, which is given as if it were UTC. */
function localStart(period: BudgetPeriod, local: number, later: number): number {
  if (period === "month") {
    const date = new Date(local);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
  }
  if (period === "hour") return (Math.floor(local / hourMs) + later) * hourMs;
  const day = Math.floor(local / dayMs);
  if (period === "day") return (day + later) * dayMs;
  return (day - ((day + epochWeekday) % 7) + 7 * later) * dayMs;
}

/**
 * The buckets of rolling windows, in milliseconds. A window counts the running bucket and all that began within its length, up to
 * one bucket more than its name. Buckets of an hour and more are whole hours, which the ledger sums.
 */
const rollingBuckets: Readonly<Record<Exclude<BudgetPeriod, "total">, RollingBuckets>> = {
  hour: { windowMs: hourMs, bucketMs: 60_000 },
  day: { windowMs: dayMs, bucketMs: hourMs },
  week: { windowMs: 7 * dayMs, bucketMs: 3 * hourMs },
  month: { windowMs: 30 * dayMs, bucketMs: 12 * hourMs },
};

export interface RollingBuckets {
  readonly windowMs: number;
  readonly bucketMs: number;
}

/** null: a calendar period. */
export function rollingOf({ period, rolling }: BudgetWindow): RollingBuckets | null {
  return rolling === true && period !== "total" ? rollingBuckets[period] : null;
}

/** When the bucket of a moment began. */
export function bucketStart({ bucketMs }: RollingBuckets, atMs: number): number {
  return Math.floor(atMs / bucketMs) * bucketMs;
}

/** When the oldest bucket that a rolling window counts now began. */
export function rollingFrom(rolling: RollingBuckets, nowMs: number): number {
  return bucketStart(rolling, nowMs) - rolling.windowMs;
}

/** When the time that a budget counts now began. */
export function windowStart(window: BudgetWindow, nowMs: number): number {
  const rolling = rollingOf(window);
  return rolling === null ? periodStart(window, nowMs) : rollingFrom(rolling, nowMs);
}

/** Part of the key of a budget's counter: another window counts separately. */
export function windowName({ period, timeZone, rolling }: BudgetWindow): string {
  if (rolling === true) return `rolling-${period}`;
  return timeZone === undefined ? period : `${period}@${timeZone}`;
}

/** The window that `windowName` names; null: none. */
export function windowNamed(name: string): BudgetWindow | null {
  const [head = "", timeZone] = name.split("@");
  const rolling = head.startsWith("rolling-");
  const period = periods.find((each) => each === (rolling ? head.slice("rolling-".length) : head));
  if (period === undefined) return null;
  return { period, ...(timeZone === undefined ? {} : { timeZone }), ...(rolling ? { rolling } : {}) };
}

const periods: readonly BudgetPeriod[] = ["hour", "day", "week", "month", "total"];
