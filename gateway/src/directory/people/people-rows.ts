import type { Person, WorkspaceRole } from "@sluice/contract/console";
import { Failure, type Grant } from "#core/index.ts";
import type { Clock, Ids, Vault } from "#ports/index.ts";
import { type Connection, type Database, peopleLock, type Row } from "#storage/tables.ts";

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

export interface PeopleOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Writes about people happen one after the other, in every process. Whether somebody is the last owner or the last
 * administrator is a question about other rows, which two writes at once would both answer with no.
 */
export interface PeopleContext extends PeopleOptions {
  readonly lock: typeof peopleLock;
}

/** The same for those who open what is sealed. */
export interface RightsContext extends PeopleContext {
  readonly vault: Vault;
}

export function peopleContext(options: PeopleOptions): PeopleContext {
  return { ...options, lock: peopleLock };
}

/**
 * Ends the sessions of somebody in the transaction that changes what they may do, and whatever had begun of a sign-in: a
 * password that was given and waits for its code was given under the old rules.
 */
export async function endSessions(connection: Connection, userId: string, except: string | null = null): Promise<void> {
  let ending = connection.deleteFrom("auth_sessions").where("user_id", "=", userId);
  if (except !== null) ending = ending.where("id", "!=", except);
  await ending.execute();
  await connection.deleteFrom("auth_verifications").where("value", "=", userId).execute();
}

/** The links to a new password that somebody was given open nothing any more. */
export async function dropResets(connection: Connection, userId: string): Promise<void> {
  await connection.deleteFrom("password_resets").where("user_id", "=", userId).execute();
}
