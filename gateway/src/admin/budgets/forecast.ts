import type { LimitUsageRow } from "@sluice/contract";
import { personScopeId } from "#core/index.ts";
import type { LimitUsage } from "#limits/index.ts";
import type { PersonDaySpend, ReportStore } from "#ports/index.ts";

/** Days of spend that a forecast is based on. */
const forecastDays = 7;
const dayMs = 86_400_000;

/** Starts at midnight UTC, since spend is stored by day. */
export function forecastSince(nowMs: number): number {
  return nowMs - (nowMs % dayMs) - forecastDays * dayMs;
}

interface DaySpend {
  readonly day: number;
  readonly usd: number;
}

/** USD per millisecond, counted from the first day with spend. */
export function spendRate(days: readonly DaySpend[], nowMs: number): number {
  const usd = days.reduce((sum, each) => sum + each.usd, 0);
  const firstDay = days.reduce((first, { day }) => Math.min(first, day), nowMs);
  // At least an hour, for a scope that was first used just now.
  return usd / Math.max(3_600_000, nowMs - firstDay);
}

/** The rates of workspaces, groups, keys and people, by `kind id`. `people`: spend by user, which does not follow from groups and keys. */
export function spendRates(
  days: Awaited<ReturnType<ReportStore["dailySpend"]>>,
  people: readonly PersonDaySpend[],
  nowMs: number,
): ReadonlyMap<string, number> {
  const byScope = new Map<string, DaySpend[]>();
  const add = (scope: string, spend: DaySpend) => {
    const found = byScope.get(scope);
    if (found === undefined) byScope.set(scope, [spend]);
    else found.push(spend);
  };
  for (const spend of days) {
    const { workspaceId, groupId, keyId } = spend;
    for (const scope of [`workspace ${workspaceId}`, `group ${groupId}`, `key ${keyId}`]) add(scope, spend);
  }
  for (const spend of people) add(`person ${personScopeId(spend.workspaceId, spend.personId)}`, spend);
  return new Map([...byScope].map(([scope, spends]) => [scope, spendRate(spends, nowMs)]));
}

/** Forecast of a budget at this rate; null for other limits and rolling windows, or if its spend is unknown. */
export function forecastOf(limitUsage: LimitUsage, usdPerMs: number, nowMs: number): LimitUsageRow["forecast"] {
  const { used } = limitUsage;
  // Spend leaves a rolling window as it came in, not at a steady rate.
  if (limitUsage.name !== "budget" || used === null || limitUsage.isRolling === true) return null;
  const endsMs = limitUsage.resetsAt === null ? nowMs + 30 * dayMs : limitUsage.resetsAt * 1_000;
  const leftMs = Math.max(0, endsMs - nowMs);
  const left = Math.max(0, limitUsage.limit - used);
  const exhaustedAt = usdPerMs > 0 ? Math.round(nowMs + left / usdPerMs) : null;
  return {
    at_period_end: used + usdPerMs * leftMs,
    exhausted_at: exhaustedAt !== null && exhaustedAt <= endsMs ? exhaustedAt : null,
  };
}
