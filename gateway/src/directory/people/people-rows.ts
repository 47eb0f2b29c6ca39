import type { Person, WorkspaceRole } from "@sluice/contract/console";
import { type Grant, orNotFound } from "#core/index.ts";
import type { Connection, Row } from "#storage/tables.ts";
import type { Problem } from "../refusals.ts";
import { deleteRows, findRow, not } from "../rows.ts";
import { workspaceOf } from "../workspaces/workspace-rows.ts";

export type UserRow = Row<"auth_users">;

/** Throws `not_found` when there is no such user. */
export async function userRow(connection: Connection, userId: string): Promise<UserRow> {
  return orNotFound(await findRow(connection, "auth_users", { id: userId }), "user");
}

export async function slugOf(connection: Connection, workspaceId: string): Promise<string> {
  return (await workspaceOf(connection, workspaceId)).slug;
}

export function personOf(row: Pick<UserRow, "id" | "email" | "name">): Person {
  return { id: row.id, email: row.email, name: row.name };
}

/** For the audit log. */
export function userView(row: UserRow) {
  return { ...personOf(row), administrator: row.administrator === 1, disabled: row.disabled === 1 };
}

export function grantColumns(grant: Grant) {
  return grant.administrator
    ? { administrator: 1, workspace_id: null, role: null }
    : { administrator: 0, workspace_id: grant.workspaceId, role: grant.role };
}

export function grantOf(row: { readonly workspace_id: string | null; readonly role: WorkspaceRole | null }): Grant {
  return row.workspace_id === null || row.role === null
    ? { administrator: true }
    : { administrator: false, workspaceId: row.workspace_id, role: row.role };
}

/** The scope of a grant, as the audit log names it. */
export async function grantPlace(connection: Connection, grant: Grant): Promise<string> {
  return grant.administrator ? "installation" : await slugOf(connection, grant.workspaceId);
}

/** Ends the sessions and started sign-ins of a user. Call it in the transaction that changes their rights. */
export async function endSessions(connection: Connection, userId: string, except: string | null = null): Promise<void> {
  await deleteRows(connection, "auth_sessions", { user_id: userId, id: not(except) });
  await deleteRows(connection, "auth_verifications", { value: userId });
}

export async function deleteResetLinks(connection: Connection, userId: string): Promise<void> {
  await deleteRows(connection, "password_resets", { user_id: userId });
}

/** Without an administrator, the installation could only be repaired in its database. */
export async function lastAdministratorProblems(connection: Connection, user: UserRow): Promise<readonly Problem[]> {
  if (user.administrator === 0 || user.disabled === 1) return [];
  const other = await findRow(connection, "auth_users", { administrator: 1, disabled: 0, id: not(user.id) });
  if (other !== undefined) return [];
  const message = `${user.email} is the last administrator. Make another user an administrator first.`;
  return [{ path: [], message, code: "conflict" }];
}

/** The memberships of users, ordered by workspace. */
export async function membershipsOf(connection: Connection, userIds: readonly string[]) {
  return await connection
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select(["members.user_id", "members.role", "workspaces.id", "workspaces.slug", "workspaces.managed_by"])
    .where("members.user_id", "in", userIds)
    .orderBy("workspaces.slug")
    .execute();
}
