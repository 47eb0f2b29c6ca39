import type { BudgetConfig, ConsoleKey } from "@sluice/contract";
import {
  budgetOfConfig,
  type ConfigSnapshot,
  type Group,
  type LimitedObject,
  type LimitScope,
  personOfScope,
  personScopeId,
  type Workspace,
  withoutUndefined,
} from "#core/index.ts";
import type { ControlStore, PeopleStore } from "#directory/index.ts";
import { type Admission, isExhausted, type LimitUsage } from "#limits/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";

interface ScopeFilter {
  readonly workspace: Workspace | null;
  readonly search?: string | undefined;
  /** One object of the workspace. */
  readonly only?: { readonly kind: LimitedObject; readonly id: string } | undefined;
  /** If set, limits of other users and their keys are excluded. Limits of shared keys are included. */
  readonly visiblePerson?: string | undefined;
}

/** Maximum keys with limits, and users with limits, that are read at once. */
const limitedKeysMax = 5_000;
/** Maximum keys of one user, for the list of their groups and workspaces. */
const ownedKeysMax = 200;

export interface ScopeStores {
  readonly controlStore: Pick<ControlStore, "limitedKeys">;
  readonly people: Pick<PeopleStore, "limitedPeople">;
}

/** The id of a scope in the admin API: for a person, the user id. */
export function publicScopeId({ scope, scopeId }: Pick<LimitUsage, "scope" | "scopeId">): string {
  return scope === "person" ? personOfScope(scopeId)[1] : scopeId;
}

/** Budget policies have their own list. */
export function isOfObject<Usage extends LimitUsage>(usage: Usage): usage is Usage & { readonly scope: LimitedObject } {
  return usage.scope !== "policy";
}

/** The state of a limit, as in the admin API. */
export function limitView<Scope extends LimitUsage["scope"]>({
  scope,
  name,
  period,
  limit,
  used,
  resetsAt,
}: LimitUsage & { readonly scope: Scope }) {
  return { scope, kind: name, period, limit, used, resets_at: resetsAt === null ? null : resetsAt * 1_000 };
}

interface LimitScopes {
  readonly scopes: readonly LimitScope[];
  /** Workspace id by scope id. */
  readonly workspaceIds: ReadonlyMap<string, string>;
  /** Group id by the scope id of a key. */
  readonly groupIds: ReadonlyMap<string, string>;
  readonly truncated: boolean;
}

/** Scopes with limits, widest first: the workspace, its groups, users and keys. `truncated`: there are more. */
export async function limitScopes(
  { workspace, search, only, visiblePerson }: ScopeFilter,
  configSnapshot: ConfigSnapshot,
  { controlStore, people }: ScopeStores,
): Promise<LimitScopes> {
  const workspaceId = workspace?.id ?? null;
  const wanted = (kind: LimitedObject) => only === undefined || only.kind === kind;
  const named = ({ id }: { readonly id: string }) => only === undefined || only.id === id;
  const users = [visiblePerson, only?.id].filter((id) => id !== undefined);
  const hidden = visiblePerson !== undefined && only !== undefined && only.id !== visiblePerson;
  const userIds = users.length === 0 ? undefined : hidden ? [] : users;
  const persons = wanted("person")
    ? await people.limitedPeople({ workspaceId, search, userIds }, limitedKeysMax + 1)
    : [];
  const keyFilter = { workspaceId, visiblePerson, ...withoutUndefined({ search, keyId: only?.id }) };
  const keys = wanted("key") ? await controlStore.limitedKeys(keyFilter, limitedKeysMax + 1) : [];
  const part = search?.toLowerCase() ?? "";
  const workspaces = (workspace === null ? [...configSnapshot.workspaces.values()] : [workspace]).filter(
    ({ name, slug }) => name.toLowerCase().includes(part) || slug.includes(part),
  );
  const groups = [...configSnapshot.groups.values()].filter(
    (group) => (workspace === null || group.workspaceId === workspace.id) && group.name.includes(part),
  );
  return {
    ...scopesOf(wanted("workspace") ? workspaces.filter(named) : [], wanted("group") ? groups.filter(named) : [], [
      ...persons.slice(0, limitedKeysMax),
      ...keys.slice(0, limitedKeysMax),
    ]),
    truncated: Math.max(persons.length, keys.length) > limitedKeysMax,
  };
}

/** Scopes that apply to a user's calls, widest first: the workspaces and groups of their keys, the user, and these keys. */
export async function limitScopesOfPerson(
  { workspace, person }: { readonly workspace: Workspace | null; readonly person: string },
  { workspaces, groups }: ConfigSnapshot,
  { controlStore, people, reports, clock }: ScopeStores & { readonly reports: ReportStore; readonly clock: Clock },
): Promise<LimitScopes> {
  const workspaceId = workspace?.id ?? null;
  const [owned, persons, keys] = await Promise.all([
    reports.keys({ workspaceId, ownerId: person, now: clock.now() }, null, ownedKeysMax),
    people.limitedPeople({ workspaceId, userIds: [person] }, limitedKeysMax),
    controlStore.limitedKeys({ workspaceId, ownerId: person }, limitedKeysMax),
  ]);
  const usable = owned.data.filter(({ state }) => state !== "revoked");
  const places = new Set([...usable.map((key) => key.workspace.id), ...(workspace === null ? [] : [workspace.id])]);
  return {
    ...scopesOf(
      [...places].flatMap((id) => workspaces.get(id) ?? []),
      [...new Set(usable.map((key) => key.group.id))].flatMap((id) => groups.get(id) ?? []),
      [...persons, ...keys],
    ),
    truncated: owned.next !== null,
  };
}

function scopesOf(workspaces: readonly Workspace[], groups: readonly Group[], narrow: readonly Limited[]) {
  const wide = [...workspaces.map(({ id, scope }): Limited => ({ scope, workspaceId: id })), ...groups];
  const isLimited = ({ scope: { budget, limits } }: Limited) => budget !== null || Object.keys(limits).length > 0;
  const all: Limited[] = [...wide.filter(isLimited), ...narrow];
  return {
    scopes: all.map(({ scope }) => scope),
    workspaceIds: new Map(all.map(({ scope, workspaceId }) => [scope.id, workspaceId])),
    groupIds: new Map(
      all.flatMap(({ scope, groupId }): [string, string][] => (groupId === undefined ? [] : [[scope.id, groupId]])),
    ),
  };
}

interface Limited {
  readonly scope: LimitScope;
  readonly workspaceId: string;
  readonly groupId?: string;
}

/** The share of a limit from which it is at risk. */
export const atRiskShare = 0.8;

/** The used share: 0 if it cannot be read now, above 1 for a budget that was overshot or lowered. */
export function usedShare({ used, limit }: Pick<LimitUsage, "used" | "limit">): number {
  // A limit of 0 is exhausted from the start.
  if (limit === 0) return 1;
  return used === null ? 0 : used / limit;
}

const narrowestFirst: readonly LimitedObject[] = ["key", "person", "group", "workspace"];

/**
 * Budget use of some objects of one type: USD in this period (null: no budget, or unknown), and the narrowest exhausted scope. `idsOf`:
 * the scopes that apply to an object. `wide`: the scopes around them.
 */
export async function withBudgetUse<Item extends { readonly budget: BudgetConfig | null }>(
  admission: Pick<Admission, "limitUsages">,
  kind: LimitedObject,
  items: readonly Item[],
  idsOf: (item: Item) => Readonly<Partial<Record<LimitedObject, string>>>,
  wide: readonly LimitScope[] = [],
) {
  const own = items.map((item) => budgetScope(kind, idsOf(item)[kind] ?? "", item.budget));
  const scopes = new Map<string, LimitScope>();
  for (const scope of [...wide, ...own]) if (scope.budget !== null) scopes.set(scope.id, { ...scope, limits: {} });
  const usages = scopes.size === 0 ? [] : await admission.limitUsages([...scopes.values()]);
  const byId = new Map(usages.map((usage) => [usage.scopeId, usage]));
  return items.map((item) => {
    const ids = idsOf(item);
    const exhausted = narrowestFirst.find((each) => {
      const usage = byId.get(ids[each] ?? "");
      return usage !== undefined && isExhausted(usage);
    });
    return { ...item, budget_used: byId.get(ids[kind] ?? "")?.used ?? null, exhausted_by: exhausted ?? null };
  });
}

/** The budget scope of a stored object. */
function budgetScope(kind: LimitedObject, id: string, budget: BudgetConfig | null): LimitScope {
  return { kind, id, label: id, limits: {}, budget: budget === null ? null : budgetOfConfig(budget) };
}

type Keys = readonly Pick<ConsoleKey, "workspace" | "person" | "owner">[];

/** The scope of a key's user; null: a shared key. */
export function personScopeOf({ workspace, person, owner }: Keys[number]): string | null {
  const user = person ?? owner ?? null;
  return user === null ? null : personScopeId(workspace.id, user.id);
}

/** Scopes of the users of some keys, by `personScopeOf`. */
export async function personScopes(
  people: ScopeStores["people"],
  keys: Keys,
): Promise<ReadonlyMap<string, LimitScope>> {
  const userIds = new Set(keys.flatMap(({ person, owner }) => (person ?? owner)?.id ?? []));
  const places = new Set(keys.map(({ workspace }) => workspace.id));
  const [only = null] = places;
  const filter = { workspaceId: places.size === 1 ? only : null, userIds: [...userIds] };
  const found = await people.limitedPeople(filter, userIds.size * places.size);
  return new Map(found.map(({ scope }) => [scope.id, scope]));
}
