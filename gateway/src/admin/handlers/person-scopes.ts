import type { ConsoleKey } from "@sluice/contract";
import { type LimitScope, personScopeId } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";

type Keys = readonly Pick<ConsoleKey, "workspace" | "person" | "owner">[];

/** The scope of whomever a key counts for; null: it is the workspace's. */
export function personScopeOf({ workspace, person, owner }: Keys[number]): string | null {
  const who = person ?? owner ?? null;
  return who === null ? null : personScopeId(workspace.id, who.id);
}

/** What limits the people whom some keys count for, by `personScopeOf`. */
export async function personScopes(
  people: Pick<PeopleStore, "limitedPeople">,
  keys: Keys,
): Promise<ReadonlyMap<string, LimitScope>> {
  const userIds = new Set(keys.flatMap(({ person, owner }) => (person ?? owner)?.id ?? []));
  const places = new Set(keys.map(({ workspace }) => workspace.id));
  const [only = null] = places;
  const filter = { workspaceId: places.size === 1 ? only : null, userIds: [...userIds] };
  const found = await people.limitedPeople(filter, userIds.size * places.size);
  return new Map(found.map(({ scope }) => [scope.id, scope]));
}
