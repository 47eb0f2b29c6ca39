import type { LimitUsageRow } from "@sluice/contract";
import { type ConfigSnapshot, invalidRequest, personScopeId } from "#core/index.ts";
import type { LimitUsage } from "#limits/index.ts";
import type { PersonDaySpend, ReportStore } from "#ports/index.ts";
import { isExhausted, limitScopes, limitScopesOfPerson, limitView, publicScopeId } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import type { Handlers } from "./calls.ts";

export function limitHandlers(dependencies: ConsoleDependencies) {
  return {
    "limits.list": async (call) => {
      const { query, workspace } = call;
      const configSnapshot = dependencies.configSnapshot();
      const { person } = query;
      if (person !== undefined && (query.search !== undefined || query.key !== undefined)) {
        throw invalidRequest("person", "`person` cannot be combined with `search` or `key`.");
      }
      checkPerson(call, person);
      const filter = { workspace, ...query, visiblePerson: visiblePerson(call) ?? undefined };
      const { scopes, workspaceIds, truncated } =
        person === undefined
          ? await limitScopes(filter, configSnapshot, dependencies)
          : await limitScopesOfPerson({ workspace, person }, configSnapshot, dependencies);
      const now = dependencies.clock.now();
      const since = forecastSince(now);
      const budgets = scopes.filter((scope) => scope.budget !== null);
      const people = budgets.filter(({ kind }) => kind === "person").map(({ id }) => id);
      const { reports } = dependencies;
      const rates = spendRates(
        budgets.length > people.length ? await reports.dailySpend(workspace?.id ?? null, since) : [],
        people.length > 0 ? await reports.personDailySpend(people, since) : [],
        now,
      );
      const limitUsages = await dependencies.admission.limitUsages(scopes);
      return {
        data: limitUsages.map((limitUsage) => ({
          ...limitView(limitUsage),
          scope_id: publicScopeId(limitUsage),
          label: limitUsage.label,
          workspace: workspaceView(workspaceIds.get(limitUsage.scopeId) ?? "", configSnapshot),
          exhausted: isExhausted(limitUsage),
          refused_at: limitUsage.refusedAt,
          forecast: forecastOf(limitUsage, rates.get(`${limitUsage.scope} ${limitUsage.scopeId}`) ?? 0, now),
        })),
        truncated,
      };
    },
  } satisfies Partial<Handlers>;
}

/** The id replaces a new workspace that is not in the snapshot yet. */
function workspaceView(id: string, configSnapshot: ConfigSnapshot): LimitUsageRow["workspace"] {
  return { id, slug: configSnapshot.workspaces.get(id)?.slug ?? id };
}

/** Period that a forecast is based on. */
const forecastDays = 7;
const dayMs = 86_400_000;

/** Starts at midnight UTC, since spend is stored by day. */
export function forecastSince(nowMs: number): number {
  return nowMs - (nowMs % dayMs) - forecastDays * dayMs;
}

/**
 * Spend rate in USD per millisecond, by `kind id`, counted from the first day with spend. `people`: the same spend by user, which
 * cannot be derived from groups and keys.
 */
export function spendRates(
  days: Awaited<ReturnType<ReportStore["dailySpend"]>>,
  people: readonly PersonDaySpend[],
  nowMs: number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, { usd: number; firstDay: number }>();
  const add = (scope: string, { day, usd }: { readonly day: number; readonly usd: number }) => {
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
    // At least an hour, for a scope that was first used just now.
    [...sums].map(([scope, { usd, firstDay }]) => [scope, usd / Math.max(3_600_000, nowMs - firstDay)]),
  );
}

/** Forecast of a budget at this rate; null for other limits, or if its spend is unknown. */
function forecastOf(limitUsage: LimitUsage, usdPerMs: number, nowMs: number): LimitUsageRow["forecast"] {
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
