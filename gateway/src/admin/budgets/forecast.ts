import type { LimitUsageRow } from "@sluice/contract";
import { personScopeId } from "#core/index.ts";
import type { LimitUsage } from "#limits/index.ts";
import type { PersonDaySpend } from "#ports/index.ts";

/** One day's spend of a key, as the ledger's rollups say. `day` is the Unix millisecond it began (UTC). */
interface DaySpend {
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly day: number;
  readonly usd: number;
}

/** How far back a forecast looks. */
const forecastDays = 7;
const dayMs = 86_400_000;

/** Since when: from the beginning of a day (UTC), because a day's spend counts as that of all of it. */
export function forecastSince(nowMs: number): number {
  return nowMs - (nowMs % dayMs) - forecastDays * dayMs;
}

/**
 * USD per millisecond of the last days, by `kind id`. The first day with spend begins the time that is looked at. `people`: the same
 * spend by whose it is, which no group or key tells.
 */
export function spendRates(
  days: readonly DaySpend[],
  people: readonly PersonDaySpend[],
  nowMs: number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, { usd: number; firstDay: number }>();
  const add = (scope: string, { day, usd }: Pick<DaySpend, "day" | "usd">) => {
    const sum = sums.get(scope);
    if (sum === undefined) sums.set(scope, { usd, firstDay: day });
    else {
      sum.usd += usd;
      sum.firstDay = Math.min(sum.firstDay, day);
    }
  };
  for (const spend of days) {
    const { workspaceId, groupId, keyId } = spend;
    for (const scope of [`workspace ${workspaceId}`, `group ${groupId}`, `key ${keyId}`]) add(scope, spend);
  }
  for (const spend of people) add(`person ${personScopeId(spend.workspaceId, spend.personId)}`, spend);
  return new Map(
    // A scope that was first used an hour ago has at least an hour behind it, not none.
    [...sums].map(([scope, { usd, firstDay }]) => [scope, usd / Math.max(3_600_000, nowMs - firstDay)]),
  );
}

/** Where a budget is going if it goes on like that; null for what is not a budget, or where it stands is not known. */
export function forecastOf(limitUsage: LimitUsage, usdPerMs: number, nowMs: number): LimitUsageRow["forecast"] {
  const { used } = limitUsage;
  if (limitUsage.name !== "budget" || used === null) return null;
  const endsMs = limitUsage.resetsAt === null ? nowMs + 30 * dayMs : limitUsage.resetsAt * 1_000;
  const leftMs = Math.max(0, endsMs - nowMs);
  const left = Math.max(0, limitUsage.limit - used);
  const exhaustedAt = usdPerMs > 0 ? Math.round(nowMs + left / usdPerMs) : null;
  return {
    at_period_end: used + usdPerMs * leftMs,
    exhausted_at: exhaustedAt !== null && exhaustedAt <= endsMs ? exhaustedAt : null,
  };
}
