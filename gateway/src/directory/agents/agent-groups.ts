import { defaultGroupName } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { Connection } from "#storage/tables.ts";

/** The group that somebody's key for sign-ins begins in: the one that rules give them, or else the first. */
export async function groupOfNewKey(connection: Connection, workspaceId: string, userId: string): Promise<string> {
  return (await givenGroup(connection, workspaceId, userId)) ?? (await firstGroup(connection, workspaceId));
}

/** The group that rules give somebody; null: none. */
export async function givenGroup(connection: Connection, workspaceId: string, userId: string): Promise<string | null> {
  const given = await connection
    .selectFrom("person_groups")
    .select("group_id")
    .where("user_id", "=", userId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return given?.group_id ?? null;
}

/** The group `default`, or else the first by name. */
export async function firstGroup(connection: Connection, workspaceId: string): Promise<string> {
  const groups = await connection
    .selectFrom("groups")
    .select(["id", "name"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("name")
    .execute();
  const group = groups.find(({ name }) => name === defaultGroupName) ?? groups[0];
  if (group === undefined) throw new Failure("not_found", "This workspace has no group.", { param: "workspace" });
  return group.id;
}

/** The key of somebody's sign-ins in a workspace, unless it was revoked. */
export async function signInKey(connection: Connection, workspaceId: string, userId: string) {
  return await connection
    .selectFrom("api_keys")
    .selectAll()
    .where("person_id", "=", userId)
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
}
