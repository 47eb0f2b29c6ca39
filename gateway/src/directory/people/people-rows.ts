import type { Person, WorkspaceRole } from "@sluice/contract/console";
import { Failure, type Grant } from "#core/index.ts";
import type { Connection, Row } from "#storage/tables.ts";

/** A user's row without what they sign in with. */
export type UserRow = Pick<
  Row<"auth_users">,
  | "id"
  | "email"
  | "name"
  | "administrator"
  | "disabled"
  | "two_factor_enabled"
  | "created_at"
  | "last_seen_at"
  | "language"
>;

export function userRows(connection: Connection) {
  return connection
    .selectFrom("auth_users")
    .select([
      "id",
      "email",
      "name",
      "administrator",
      "disabled",
      "two_factor_enabled",
      "created_at",
      "last_seen_at",
      "language",
    ]);
}

/** Throws `not_found` when there is no such user. */
export async function userRow(connection: Connection, userId: string): Promise<UserRow> {
  const row = await userRows(connection).where("id", "=", userId).executeTakeFirst();
  if (row === undefined) throw new Failure("not_found", "There is no such user.", { param: "user" });
  return row;
}

export async function slugOf(connection: Connection, workspaceId: string): Promise<string> {
  const row = await connection.selectFrom("workspaces").select("slug").where("id", "=", workspaceId).executeTakeFirst();
  if (row === undefined) throw new Failure("not_found", "There is no such workspace.", { param: "workspace" });
  return row.slug;
}

export function personOf(row: Pick<UserRow, "id" | "email" | "name">): Person {
  return { id: row.id, email: row.email, name: row.name };
}

/** What an audit row shows of a user. */
export function userView(row: UserRow) {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    administrator: row.administrator === 1,
    disabled: row.disabled === 1,
  };
}

/** A grant as columns. */
export function grantColumns(grant: Grant) {
  return grant.administrator
    ? { administrator: 1, workspace_id: null, role: null }
    : { administrator: 0, workspace_id: grant.workspaceId, role: grant.role };
}

/** Columns as a grant. */
export function grantOf(row: { readonly workspace_id: string | null; readonly role: WorkspaceRole | null }): Grant {
  return row.workspace_id === null || row.role === null
    ? { administrator: true }
    : { administrator: false, workspaceId: row.workspace_id, role: row.role };
}

/** Where a grant counts, as audit rows name it: a workspace's slug, or all of it. */
export async function grantPlace(connection: Connection, grant: Grant): Promise<string> {
  return grant.administrator ? "installation" : await slugOf(connection, grant.workspaceId);
}
