import type { LimitSort, LimitUsageRow, limitStates } from "@sluice/contract";
import { type ConfigSnapshot, invalidRequest, type LimitScope, type Workspace } from "#core/index.ts";
import { isExhausted } from "#limits/index.ts";
import { forecastOf, forecastSince, spendRates } from "../budgets/forecast.ts";
import {
  atRiskShare,
  isOfObject,
  limitScopes,
  limitScopesOfPerson,
  limitView,
  publicScopeId,
  usedShare,
} from "../budgets/limit-scopes.ts";
import { splitByTag } from "../budgets/tag-spend.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import type { Handlers } from "./calls.ts";
import { changeLimit } from "./limit-change.ts";

export function limitHandlers(dependencies: ConsoleDependencies) {
  return {
    "limits.list": async (call) => {
      const { query, workspace } = call;
      const configSnapshot = dependencies.configSnapshot();
      const { person, key, scope, scope_id: scopeId, state, sort = "place", tag } = query;
      const limit = Math.min(query.limit ?? limitsPageSize, tag === undefined ? limitsPageSize : taggedPageSize);
      if (tag === undefined && query.tag_value !== undefined) throw invalidRequest("tag", "Name the tag.");
      if (person !== undefined && (query.search !== undefined || key !== undefined || scopeId !== undefined)) {
        throw invalidRequest("person", "`person` cannot be combined with `search`, `key` or `scope_id`.");
      }
      checkPerson(call, person);
      const only = key !== undefined ? { kind: "key" as const, id: key } : onlyOf(scope, scopeId);
      const filter = { workspace, search: query.search, only, visiblePerson: visiblePerson(call) ?? undefined };
      const found =
        person === undefined
          ? await limitScopes(filter, configSnapshot, dependencies)
          : await limitScopesOfPerson({ workspace, person }, configSnapshot, dependencies);
      const now = dependencies.clock.now();
      const rates = await spendRatesOf(found.scopes, workspace, dependencies);
      const usages = await dependencies.admission.limitUsages(found.scopes);
      const rows = usages
        .filter(isOfObject)
        .filter((usage) => (scope ?? usage.scope) === usage.scope && (query.kind ?? usage.name) === usage.name)
        .map((usage): LimitUsageRow => {
          const groupId = found.groupIds.get(usage.scopeId);
          return {
            ...limitView(usage),
            scope_id: publicScopeId(usage),
            label: usage.label,
            workspace: workspaceView(found.workspaceIds.get(usage.scopeId) ?? "", configSnapshot),
            group: groupId === undefined ? null : { id: groupId, name: configSnapshot.groups.get(groupId)?.name ?? "" },
            enforce: !usage.isShadow,
            time_zone: usage.timeZone ?? null,
            rolling: usage.isRolling ?? false,
            held: usage.held ?? null,
            exhausted: isExhausted(usage),
            refused_at: usage.refusedAt,
            by_tag: null,
            forecast: forecastOf(usage, rates.get(`${usage.scope} ${usage.scopeId}`) ?? 0, now),
          };
        });
      const inState = rows.filter((row) => state === undefined || states[state](row)).toSorted(orderBy(sort));
      const start = offsetOf(query.cursor);
      const page = inState.slice(start, start + limit);
      return {
        data: tag === undefined ? page : await splitByTag(page, { tag, value: query.tag_value }, dependencies),
        next: start + limit < inState.length ? String(start + limit) : null,
        counts: {
          all: rows.length,
          at_risk: rows.filter(states.at_risk).length,
          exhausted: rows.filter(states.exhausted).length,
          running_out: rows.filter(states.running_out).length,
        },
        truncated: found.truncated,
      };
    },
    "limits.update": (call) => changeLimit(call, dependencies),
  } satisfies Partial<Handlers>;
}

const limitsPageSize = 200;
/** Each budget of a page is a report. */
const taggedPageSize = 50;

function onlyOf(scope: LimitUsageRow["scope"] | undefined, id: string | undefined) {
  if (id === undefined) return undefined;
  if (scope === undefined) throw invalidRequest("scope", "`scope_id` needs `scope`.");
  return { kind: scope, id };
}

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw invalidRequest("cursor", "Not a cursor of this list.");
}

const states = {
  exhausted: ({ exhausted }) => exhausted,
  at_risk: (row) => row.exhausted || usedShare(row) >= atRiskShare,
  running_out: ({ exhausted, forecast }) => !exhausted && forecast !== null && forecast.exhausted_at !== null,
} as const satisfies Readonly<Record<(typeof limitStates)[number], (row: LimitUsageRow) => boolean>>;

/** Rows without a value come last in both directions. */
function orderBy(sort: LimitSort): (one: LimitUsageRow, other: LimitUsageRow) => number {
  const direction = sort.startsWith("-") ? -1 : 1;
  const name = sort.replace("-", "") as "place" | "used" | "resets_at" | "exhausted_at";
  if (name === "place") return (one, other) => direction * byPlace(one, other);
  const value = {
    used: (row: LimitUsageRow) => (row.exhausted ? 1 + Math.max(1, usedShare(row)) : Math.min(1, usedShare(row))),
    resets_at: (row: LimitUsageRow) => (row.kind === "budget" ? row.resets_at : null),
    exhausted_at: ({ forecast }: LimitUsageRow) => forecast?.exhausted_at ?? null,
  }[name];
  return (one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null) || byPlace(one, other);
    return direction * (a - b) || byPlace(one, other);
  };
}

/** A workspace, then its people, then each group with its keys. */
function byPlace(one: LimitUsageRow, other: LimitUsageRow): number {
  return (
    textOrder(one.workspace.slug, other.workspace.slug) ||
    Number(isInGroup(one)) - Number(isInGroup(other)) ||
    textOrder(groupOf(one), groupOf(other)) ||
    scopesInPlace.indexOf(one.scope) - scopesInPlace.indexOf(other.scope) ||
    textOrder(one.label, other.label)
  );
}

const scopesInPlace = ["workspace", "person", "group", "key"];

function isInGroup({ scope }: LimitUsageRow): boolean {
  return scope === "group" || scope === "key";
}

function groupOf({ scope, label, workspace, group }: LimitUsageRow): string {
  return scope === "group" ? label.slice(`group ${workspace.slug}/`.length) : (group?.name ?? "");
}

/** By code unit, so that every machine gives the same order. */
function textOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

async function spendRatesOf(
  scopes: readonly LimitScope[],
  workspace: Workspace | null,
  { reports, clock }: ConsoleDependencies,
) {
  const now = clock.now();
  const since = forecastSince(now);
  const budgets = scopes.filter((scope) => scope.budget !== null);
  const people = budgets.filter(({ kind }) => kind === "person").map(({ id }) => id);
  return spendRates(
    budgets.length > people.length ? await reports.dailySpend(workspace?.id ?? null, since) : [],
    people.length > 0 ? await reports.personDailySpend(people, since) : [],
    now,
  );
}

/** The id replaces a new workspace that is not in the snapshot yet. */
function workspaceView(id: string, configSnapshot: ConfigSnapshot): LimitUsageRow["workspace"] {
  return { id, slug: configSnapshot.workspaces.get(id)?.slug ?? id };
}
