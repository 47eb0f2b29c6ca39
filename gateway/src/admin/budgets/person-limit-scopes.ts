import type { ConfigSnapshot, LimitScope, Workspace } from "#core/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";
import { isLimited, type LimitScopes, limitedKeysMax, type ScopeStores } from "./limit-scopes.ts";

interface PersonFilter {
  readonly workspace: Workspace | null;
  readonly person: string;
}

interface PersonScopeStores extends ScopeStores {
  readonly reports: Pick<ReportStore, "keys">;
  readonly clock: Pick<Clock, "now">;
}

/** What limits somebody's calls, widest first: the workspaces and groups of their keys, themselves, and these keys. */
export async function limitScopesOfPerson(
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
