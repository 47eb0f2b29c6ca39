import { type ConfigSnapshot, type LimitScope, personOfScope, type Workspace } from "#core/index.ts";
import type { ControlStore, PeopleStore } from "#directory/index.ts";
import type { LimitUsage } from "#limits/index.ts";

export interface ScopeFilter {
  readonly workspace: Workspace | null;
  readonly search?: string | undefined;
  readonly key?: string | undefined;
  /** Who alone, of all people, is shown, and whose keys; those of no one person are shown too. */
  readonly seenPerson?: string;
}

/** How many keys, and how many people, one look at limits takes in. */
export const limitedKeysMax = 200;

/** Where people and keys with limits are read from. */
export interface ScopeStores {
  readonly controlStore: Pick<ControlStore, "limitedKeys">;
  readonly people: Pick<PeopleStore, "limitedPeople">;
}

/** The id that the admin API calls a scope by: of a person the user's. */
export function shownScopeId({ scope, scopeId }: Pick<LimitUsage, "scope" | "scopeId">): string {
  return scope === "person" ? personOfScope(scopeId)[1] : scopeId;
}

export interface LimitScopes {
  readonly scopes: readonly LimitScope[];
  /** By a scope's id, the id of the workspace it belongs to. */
  readonly homes: ReadonlyMap<string, string>;
  readonly truncated: boolean;
}

/** What has limits, widest first: the workspace, its groups, people and keys. `truncated`: there are more than these. */
export async function limitScopes(
  filter: ScopeFilter,
  configSnapshot: ConfigSnapshot,
  { controlStore, people }: ScopeStores,
): Promise<LimitScopes> {
  const { workspace, search, key, seenPerson } = filter;
  const seen = seenPerson === undefined ? {} : { seenPerson };
  const only = seenPerson === undefined ? {} : { userIds: [seenPerson] };
  const workspaceId = workspace?.id ?? null;
  const persons =
    key === undefined ? await people.limitedPeople({ workspaceId, search, ...only }, limitedKeysMax + 1) : [];
  const keys = await controlStore.limitedKeys(
    {
      workspaceId,
      ...seen,
      ...(search === undefined ? {} : { search }),
      ...(key === undefined ? {} : { keyId: key }),
    },
    limitedKeysMax + 1,
  );
  const words = search?.toLowerCase() ?? "";
  const wide: LimitScope[] = [];
  const homes = new Map([...persons, ...keys].map((each) => [each.scope.id, each.workspaceId]));
  if (key === undefined) {
    for (const each of workspace === null ? configSnapshot.workspaces.values() : [workspace]) {
      if (each.name.toLowerCase().includes(words) || each.slug.includes(words)) {
        wide.push(each.scope);
        homes.set(each.scope.id, each.id);
      }
    }
    for (const group of configSnapshot.groups.values()) {
      if ((workspace === null || group.workspaceId === workspace.id) && group.name.includes(words)) {
        wide.push(group.scope);
        homes.set(group.scope.id, group.workspaceId);
      }
    }
  }
  return {
    scopes: [
      ...wide.filter(isLimited),
      ...[persons, keys].flatMap((some) => some.slice(0, limitedKeysMax).map(({ scope }) => scope)),
    ],
    homes,
    truncated: Math.max(persons.length, keys.length) > limitedKeysMax,
  };
}

export function isLimited({ budget, limits }: LimitScope): boolean {
  return budget !== null || Object.keys(limits).length > 0;
}
