import type { Database } from "#storage/tables.ts";

/** The id of the user with this address or id. Users of other workspaces are unknown here. `workspaceId` null: any user. */
export async function memberNamed(
  emailOrId: string,
  workspaceId: string | null,
  { kysely }: Database,
): Promise<string | null> {
  const users = kysely
    .selectFrom("auth_users")
    .select("auth_users.id")
    .where(({ eb, or }) =>
      or([eb("auth_users.email", "=", emailOrId.toLowerCase()), eb("auth_users.id", "=", emailOrId)]),
    );
  const found =
    workspaceId === null
      ? users
      : users.innerJoin("members", "members.user_id", "auth_users.id").where("members.workspace_id", "=", workspaceId);
  return (await found.executeTakeFirst())?.id ?? null;
}
