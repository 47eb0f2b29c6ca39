import type { LimitUsageRow } from "@sluice/contract";
import { type ConfigSnapshot, Failure } from "#core/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";
import { isExhausted } from "../budgets/exhausted.ts";
import { forecastOf, forecastSince, spendRates } from "../budgets/forecast.ts";
import { limitScopes, type ScopeStores, shownScopeId } from "../budgets/limit-scopes.ts";
import { limitScopesOfPerson } from "../budgets/person-limit-scopes.ts";
import type { Handlers } from "./handler.ts";
import { checkPerson, seenOnly } from "./seen-people.ts";

export interface LimitHandlerDependencies extends ScopeStores {
  readonly admission: Pick<Admission, "limitUsages">;
  readonly reports: Pick<ReportStore, "dailySpend" | "personDailySpend" | "keys">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
}

/** The calls about limits. */
export function limitHandlers(dependencies: LimitHandlerDependencies): Handlers<"limits.list"> {
  return {
    "limits.list": async (call) => {
      const { query, workspace } = call;
      const configSnapshot = dependencies.configSnapshot();
      const { person } = query;
      if (person !== undefined && (query.search !== undefined || query.key !== undefined)) {
        throw new Failure("invalid_request", "Ask by `person` alone, without `search` and `key`.", { param: "person" });
      }
      checkPerson(call, person);
      const { scopes, homes, truncated } =
        person === undefined
          ? await limitScopes({ workspace, ...query, ...seenOnly(call) }, configSnapshot, dependencies)
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
          scope: limitUsage.scope,
          scope_id: shownScopeId(limitUsage),
          label: limitUsage.label,
          workspace: homeOf(homes.get(limitUsage.scopeId) ?? "", configSnapshot),
          kind: limitUsage.name,
          period: limitUsage.period,
          limit: limitUsage.limit,
          used: limitUsage.used,
          exhausted: isExhausted(limitUsage),
          refused_at: limitUsage.refusedAt,
          resets_at: limitUsage.resetsAt === null ? null : limitUsage.resetsAt * 1_000,
          forecast: forecastOf(limitUsage, rates.get(`${limitUsage.scope} ${limitUsage.scopeId}`) ?? 0, now),
        })),
        truncated,
      };
    },
  };
}

/** A workspace that was made a moment ago and is not in force here yet is known by its id. */
function homeOf(id: string, configSnapshot: ConfigSnapshot): LimitUsageRow["workspace"] {
  return { id, slug: configSnapshot.workspaces.get(id)?.slug ?? id };
}
