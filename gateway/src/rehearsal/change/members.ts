import type { Database } from "#storage/tables.ts";

/** The id of the user. Users of other workspaces are unknown here. `workspaceId` null: any user. */
export async function memberNamed(
  email: string,
  workspaceId: string | null,
  { kysely }: Database,
): Promise<string | null> {
  const users = kysely
    .selectFrom("auth_users")
    .select("auth_users.id")
    .where("auth_users.email", "=", email.toLowerCase());
  const found =
    workspaceId === null
      ? users
      : users.innerJoin("members", "members.user_id", "auth_users.id").where("members.workspace_id", "=", workspaceId);
  return (await found.executeTakeFirst())?.id ?? null;
}
