import type { Catalog, LimitScope, Workspace } from "#core/index.ts";
import type { ControlStore } from "#ports/index.ts";

export interface ScopeFilter {
  readonly workspace: Workspace | null;
  readonly search?: string | undefined;
  readonly key?: string | undefined;
}

/** How many keys one look at limits takes in. */
const limitedKeysMax = 200;

export interface LimitScopes {
  readonly scopes: readonly LimitScope[];
  /** By a scope's id, the id of the workspace it belongs to. */
  readonly homes: ReadonlyMap<string, string>;
  readonly truncated: boolean;
}

/** What has limits, widest first: the workspace, its groups, its keys. `truncated`: there are more keys than these. */
export async function limitScopes(
  filter: ScopeFilter,
  catalog: Catalog,
  store: Pick<ControlStore, "limitedKeys">,
): Promise<LimitScopes> {
  const { workspace, search, key } = filter;
  const keys = await store.limitedKeys(
    {
      workspaceId: workspace?.id ?? null,
      ...(search === undefined ? {} : { search }),
      ...(key === undefined ? {} : { keyId: key }),
    },
    limitedKeysMax + 1,
  );
  const words = search?.toLowerCase() ?? "";
  const wide: LimitScope[] = [];
  const homes = new Map(keys.map((each) => [each.scope.id, each.workspaceId]));
  if (key === undefined) {
    for (const each of workspace === null ? catalog.workspaces.values() : [workspace]) {
      if (each.name.toLowerCase().includes(words) || each.slug.includes(words)) {
        wide.push(each.scope);
        homes.set(each.scope.id, each.id);
      }
    }
    for (const group of catalog.groups.values()) {
      if ((workspace === null || group.workspaceId === workspace.id) && group.name.includes(words)) {
        wide.push(group.scope);
        homes.set(group.scope.id, group.workspaceId);
      }
    }
  }
  const limited = wide.filter((scope) => scope.budget !== null || Object.keys(scope.limits).length > 0);
  return {
    scopes: [...limited, ...keys.slice(0, limitedKeysMax).map((each) => each.scope)],
    homes,
    truncated: keys.length > limitedKeysMax,
  };
}
