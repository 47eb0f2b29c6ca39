import type { LimitStandingRow } from "@sluice/contract";
import type { Catalog } from "#core/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, ControlStore, ReportStore } from "#ports/index.ts";
import { forecastDays, forecastOf, spendRates } from "../budgets/forecast.ts";
import { standingScopes } from "../budgets/standing-scopes.ts";
import type { Handlers } from "./handler.ts";

export interface LimitCallsHouse {
  readonly admission: Pick<Admission, "standings">;
  readonly controlStore: Pick<ControlStore, "limitedKeys">;
  readonly reports: Pick<ReportStore, "dailySpend">;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
}

/** The calls about limits. */
export function limitCalls(house: LimitCallsHouse): Handlers<"limits.list"> {
  return {
    "limits.list": async ({ query, workspace }) => {
      const catalog = house.catalog();
      const { scopes, homes, truncated } = await standingScopes({ workspace, ...query }, catalog, house.controlStore);
      const now = house.clock.now();
      const since = now - forecastDays * 86_400_000;
      const spend = scopes.some((scope) => scope.budget !== null)
        ? await house.reports.dailySpend(workspace?.id ?? null, since)
        : [];
      const rates = spendRates(spend, now);
      const standings = await house.admission.standings(scopes);
      return {
        data: standings.map((standing) => ({
          scope: standing.scope,
          scope_id: standing.scopeId,
          label: standing.label,
          workspace: homeOf(homes.get(standing.scopeId) ?? "", catalog),
          kind: standing.name,
          period: standing.period,
          limit: standing.limit,
          used: standing.used,
          resets_at: standing.resetsAt === null ? null : standing.resetsAt * 1_000,
          forecast: forecastOf(standing, rates.get(`${standing.scope} ${standing.scopeId}`) ?? 0, now),
        })),
        truncated,
      };
    },
  };
}

/** A workspace that was made a moment ago and is not in force here yet is known by its id. */
function homeOf(id: string, catalog: Catalog): LimitStandingRow["workspace"] {
  return { id, slug: catalog.workspaces.get(id)?.slug ?? id };
}
