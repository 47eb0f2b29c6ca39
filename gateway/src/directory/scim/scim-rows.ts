import { bounds } from "#core/index.ts";
import type { ScimAttributes, ScimUser } from "#ports/index.ts";
import type { Connection } from "#storage/tables.ts";

/** Those that a directory has here now, with what the person's own row says. */
export function scimUserRows(connection: Connection) {
  return connection
    .selectFrom("scim_users")
    .innerJoin("auth_users", "auth_users.id", "scim_users.user_id")
    .select([
      "scim_users.user_id",
      "scim_users.user_name",
      "scim_users.external_id",
      "scim_users.attributes",
      "scim_users.made",
      "scim_users.deactivated",
      "scim_users.version",
      "scim_users.created_at",
      "scim_users.updated_at",
      "auth_users.email",
      "auth_users.name",
      "auth_users.disabled",
    ])
    .where("scim_users.removed_at", "is", null);
}

export type ScimUserRow = Awaited<ReturnType<ReturnType<typeof scimUserRows>["executeTakeFirstOrThrow"]>>;

export async function scimUserRow(connection: Connection, id: string): Promise<ScimUserRow | null> {
  const row = await scimUserRows(connection).where("scim_users.user_id", "=", id).executeTakeFirst();
  return row ?? null;
}

/** With the groups that they are in. */
export async function scimUsersOf(connection: Connection, rows: readonly ScimUserRow[]): Promise<readonly ScimUser[]> {
  if (rows.length === 0) return [];
  const groups = await connection
    .selectFrom("scim_members")
    .innerJoin("scim_groups", "scim_groups.id", "scim_members.group_id")
    .select(["scim_members.user_id", "scim_groups.id", "scim_groups.display_name"])
    .where(
      "scim_members.user_id",
      "in",
      rows.map((row) => row.user_id),
    )
    .orderBy("scim_groups.display_name")
    .limit(bounds.scimGroupsOfUserMax * rows.length)
    .execute();
  const byUser = Map.groupBy(groups, (group) => group.user_id);
  return rows.map((row) => ({
    id: row.user_id,
    userName: row.user_name,
    externalId: row.external_id,
    active: row.disabled === 0,
    email: row.email,
    name: row.name,
    attributes: JSON.parse(row.attributes) as ScimAttributes,
    groups: (byUser.get(row.user_id) ?? [])
      .slice(0, bounds.scimGroupsOfUserMax)
      .map(({ id, display_name }) => ({ id, displayName: display_name })),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    // The console may disable them too, and nothing is written here then.
    version: 2 * Number(row.version) + row.disabled,
  }));
}

/** What is equal in upper and lower case. */
export function nameKey(name: string): string {
  return name.toLowerCase();
}
