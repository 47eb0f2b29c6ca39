import type { LimitUsageRow } from "@sluice/contract";
import { type ConfigSnapshot, Failure, type LimitScope, type Workspace } from "#core/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";
import { isExhausted } from "../budgets/exhausted.ts";
import { forecastOf, forecastSince, spendRates } from "../budgets/forecast.ts";
import {
  isLimited,
  type LimitScopes,
  limitedKeysMax,
  limitScopes,
  type ScopeStores,
  shownScopeId,
} from "../budgets/limit-scopes.ts";
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

interface PersonFilter {
  readonly workspace: Workspace | null;
  readonly person: string;
}

interface PersonScopeStores extends ScopeStores {
  readonly reports: Pick<ReportStore, "keys">;
  readonly clock: Pick<Clock, "now">;
}

/** What limits somebody's calls, widest first: the workspaces and groups of their keys, themselves, and these keys. */
async function limitScopesOfPerson(
  { workspace, person }: PersonFilter,
  { workspaces, groups }: ConfigSnapshot,
  { controlStore, people, reports, clock }: PersonScopeStores,
): Promise<LimitScopes> {
  const workspaceId = workspace?.id ?? null;
  const [owned, persons, keys] = await Promise.all([
    reports.keys({ workspaceId, ownerId: person, now: clock.now() }, null, limitedKeysMax),
    people.limitedPeople({ workspaceId, userIds: [person] }, limitedKeysMax),
    controlStore.limitedKeys({ workspaceId, ownerId: person }, limitedKeysMax),
  ]);
  const usable = owned.data.filter(({ state }) => state !== "revoked");
  const places = new Set(usable.map((key) => key.workspace.id));
  if (workspace !== null) places.add(workspace.id);
  const homes = new Map([...persons, ...keys].map((each) => [each.scope.id, each.workspaceId]));
  const wide: LimitScope[] = [];
  for (const place of [...places].flatMap((id) => workspaces.get(id) ?? [])) {
    wide.push(place.scope);
    homes.set(place.scope.id, place.id);
  }
  for (const group of [...new Set(usable.map((key) => key.group.id))].flatMap((id) => groups.get(id) ?? [])) {
    wide.push(group.scope);
    homes.set(group.scope.id, group.workspaceId);
  }
  return {
    scopes: [...wide.filter(isLimited), ...persons.map(({ scope }) => scope), ...keys.map(({ scope }) => scope)],
    homes,
    truncated: owned.next !== null,
  };
}
