import type { Connection } from "../database/database.ts";
import { chunksOf } from "../database/reconcile.ts";
import { namesIn, peopleNamed } from "../reports/report-names.ts";
import type { FocusNames } from "./focus-rows.ts";
import type { FocusScope } from "./focus-sums.ts";

type Owned = Pick<FocusScope, "workspaceId" | "groupId" | "keyId" | "personId">;

/** Reads the names for these scopes. Deleted objects have their id as name. */
export async function readFocusNames(
  connection: Connection,
  scopes: readonly Owned[],
): Promise<(scope: Owned) => FocusNames> {
  const named = async (table: "groups" | "api_keys", member: "groupId" | "keyId") => {
    const names = new Map<string, string>();
    for (const ids of chunksOf([...new Set(scopes.map((scope) => scope[member]))])) {
      for (const [id, name] of await namesIn(connection, table, ids)) names.set(id, name);
    }
    return names;
  };
  const groups = await named("groups", "groupId");
  const keys = await named("api_keys", "keyId");
  const people = new Map(
    (await peopleNamed(connection, new Set(scopes.map(({ personId }) => personId)))).map(({ id, email }) => [
      id,
      email,
    ]),
  );
  const workspaces = await connection
    .selectFrom("workspaces")
    .select(["id", "slug", "name"])
    .where("id", "in", [...new Set(scopes.map(({ workspaceId }) => workspaceId))])
    .execute();
  const byId = new Map(workspaces.map((workspace) => [workspace.id, workspace]));
  return ({ workspaceId, groupId, keyId, personId }) => ({
    workspace: byId.get(workspaceId) ?? { slug: workspaceId, name: workspaceId },
    group: groups.get(groupId) ?? groupId,
    key: keys.get(keyId) ?? keyId,
    person: people.get(personId) ?? personId,
  });
}
