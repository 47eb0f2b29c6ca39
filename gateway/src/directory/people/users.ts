import type { ConsoleUser, LeaverKeys } from "@sluice/contract/console";
import { isConsoleLanguage } from "@sluice/contract/words";
import { sql } from "kysely";
import { Failure, nameCursor, nameOfCursor } from "#core/index.ts";
import type { AuditSource, Paged } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Connection, contains, cutPage } from "#storage/tables.ts";
import { endAgents } from "../agents/agent-persons.ts";
import { installation, setByHand } from "../rights/given-rows.ts";
import { refuseUngoverned } from "./administrators.ts";
import { forgetSuspended, refuseFilePeople, suspendedPeople } from "./file-people.ts";
import { settleKeys } from "./key-owners.ts";
import { refuseOwnerless } from "./members.ts";
import {
  dropResets,
  endSessions,
  type PeopleContext,
  personOf,
  type UserRow,
  userRow,
  userRows,
  userView,
} from "./people-rows.ts";

/** By address. `search` is part of an address or a name, in any case. */
export async function listUsers(
  { database }: PeopleContext,
  search: string | null,
  cursor: string | null,
  limit: number,
): Promise<Paged<ConsoleUser>> {
  let query = userRows(database.kysely)
    .orderBy("email")
    .limit(limit + 1);
  if (cursor !== null) query = query.where("email", ">", nameOfCursor(cursor));
  if (search !== null) {
    query = query.where((eb) => eb.or([contains(eb.ref("email"), search), contains(eb.ref("name"), search)]));
  }
  const rows = await query.execute();
  const { page, next } = cutPage(rows, limit, (last) => nameCursor(last.email));
  return { data: await consoleUsers(database.kysely, page), next };
}

export async function oneUser(connection: Connection, by: "id" | "email", value: string): Promise<ConsoleUser | null> {
  const rows = await userRows(connection).where(by, "=", value).execute();
  const [user] = await consoleUsers(connection, rows);
  return user ?? null;
}

interface UserChange {
  readonly administrator?: boolean;
  readonly disabled?: boolean;
  readonly keys?: LeaverKeys | undefined;
  /** The session that goes on. */
  readonly keptSession?: string | null;
}

/**
 * Ends the user's sessions when the rights change. Throws `conflict` when no administrator would be left. `keys`: what happens
 * to the keys that the user can no longer manage.
 */
export async function updateUser(
  options: PeopleContext,
  userId: string,
  change: UserChange,
  auditSource: AuditSource,
): Promise<ConsoleUser> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { email } = await userRow(under.transaction, userId);
    await refuseFilePeople(under.transaction, "users", userId, `user ${email}`);
    await forgetSuspended(under.transaction, "users", userId);
    if (change.administrator !== undefined) {
      const role = change.administrator ? ("administrator" as const) : null;
      await setByHand(under.transaction, { userId, workspaceId: installation, role, email });
    }
    return await changeUser(under, userId, change);
  });
}

/** The change itself, whoever makes it. */
export async function changeUser(under: AuditedWrite, userId: string, change: UserChange): Promise<ConsoleUser> {
  const { transaction, log } = under;
  const before = await userRow(transaction, userId);
  const after = {
    ...before,
    administrator: Number(change.administrator ?? before.administrator === 1),
    disabled: Number(change.disabled ?? before.disabled === 1),
  };
  if (after.administrator === 0 || after.disabled === 1) await refuseUngoverned(transaction, before);
  if (after.administrator !== before.administrator || after.disabled !== before.disabled) {
    const columns = { administrator: after.administrator, disabled: after.disabled };
    await transaction.updateTable("auth_users").set(columns).where("id", "=", userId).execute();
    // Another standing begins with another sign-in; a session from before must not carry over.
    await endSessions(transaction, userId, change.keptSession ?? null);
    log.record("update", `user ${before.email}`, userView(before), userView(after));
  }
  const loses = after.administrator < before.administrator || after.disabled > before.disabled;
  // Whoever is let in again begins with what is given to them then.
  if (after.disabled > before.disabled) await dropResets(transaction, userId);
  if (loses || change.keys !== undefined) await settleKeys(under, { leaver: before, keys: change.keys ?? null });
  if (loses) await endAgents(under, { userId });
  const [user] = await consoleUsers(transaction, [after]);
  if (user === undefined) throw new Failure("not_found", "There is no such user.", { param: "user" });
  return user;
}

/**
 * Removes the user with all memberships, tokens, invitations, sessions and credentials; the audit log keeps what they did. Throws
 * `conflict` for the last administrator, and `missing_required_parameter` when they made keys that are not revoked and `keys`
 * is null.
 */
export async function removeUser(
  options: PeopleContext,
  userId: string,
  keys: LeaverKeys | null,
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async (under) => {
    const { transaction, log } = under;
    const user = await userRow(transaction, userId);
    await refuseFilePeople(transaction, "users", userId, `user ${user.email}`);
    await forgetSuspended(transaction, "users", userId);
    await refuseUngoverned(transaction, user);
    const places = await transaction
      .selectFrom("members")
      .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
      .select(["workspaces.id", "workspaces.slug", "members.role"])
      .where("members.user_id", "=", userId)
      .orderBy("workspaces.slug")
      .execute();
    for (const place of places) await refuseOwnerless(transaction, place.id, userId);
    await transaction.deleteFrom("members").where("user_id", "=", userId).execute();
    await transaction.deleteFrom("admin_tokens").where("owner_id", "=", userId).execute();
    // Also those to them: a link they did not open yet would bring them back.
    await transaction
      .deleteFrom("invitations")
      .where((eb) => eb.or([eb("invited_by", "=", userId), eb("email", "=", user.email)]))
      .execute();
    await dropResets(transaction, userId);
    await transaction.updateTable("auth_users").set({ administrator: 0 }).where("id", "=", userId).execute();
    await settleKeys(under, { leaver: user, keys });
    await endAgents(under, { userId, removed: true });
    await endSessions(transaction, userId);
    await transaction.deleteFrom("auth_users").where("id", "=", userId).execute();
    const workspaces = places.map(({ slug, role }) => ({ slug, role }));
    log.record("remove", `user ${user.email}`, { ...userView(user), workspaces }, null);
  });
}

async function consoleUsers(connection: Connection, rows: readonly UserRow[]): Promise<readonly ConsoleUser[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const places = await connection
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select(["members.user_id", "members.role", "workspaces.id", "workspaces.slug"])
    .where("members.user_id", "in", ids)
    .orderBy("workspaces.slug")
    .execute();
  const counts = await connection
    .selectFrom("auth_passkeys")
    .select("user_id")
    .select((eb) => eb.fn.countAll<number>().as("passkeys"))
    .where("user_id", "in", ids)
    .groupBy("user_id")
    .execute();
  const passkeys = new Map(counts.map((row) => [row.user_id, Number(row.passkeys)]));
  const byUser = Map.groupBy(places, (place) => place.user_id);
  const sources = await userSources(connection, ids);
  const suspended = await suspendedPeople(connection);
  return rows.map((row) => ({
    ...personOf(row),
    administrator: row.administrator === 1,
    disabled: row.disabled === 1,
    suspended: suspended.users.includes(row.id),
    language: isConsoleLanguage(row.language) ? row.language : null,
    two_factor: Boolean(row.two_factor_enabled),
    passkeys: passkeys.get(row.id) ?? 0,
    created_at: new Date(row.created_at).getTime(),
    last_seen_at: row.last_seen_at === null ? null : Number(row.last_seen_at),
    workspaces: (byUser.get(row.id) ?? []).map(({ id, slug, role }) => ({ id, slug, role })),
    sources: sources.get(row.id) ?? [],
  }));
}

type Source = ConsoleUser["sources"][number];

/** The directory and the issuers that keep some users, by user. */
async function userSources(connection: Connection, ids: readonly string[]): Promise<ReadonlyMap<string, Source[]>> {
  const found = new Map<string, Source[]>();
  const add = (userId: string, source: Source) => void found.set(userId, [...(found.get(userId) ?? []), source]);
  const directory = await connection
    .selectFrom("scim_users")
    .select(["user_id", "made", "created_at"])
    .where("user_id", "in", [...ids])
    .where("removed_at", "is", null)
    .execute();
  for (const row of directory) {
    add(row.user_id, { source: "scim", made: row.made === 1, since: Number(row.created_at) });
  }
  const issuers = await connection
    .selectFrom("person_claims")
    .select(["user_id", "source", "said_at"])
    .where("user_id", "in", [...ids])
    .where("source", "!=", "scim")
    .orderBy("source")
    .execute();
  for (const row of issuers) add(row.user_id, { source: row.source, made: false, since: Number(row.said_at) });
  return found;
}

/**
 * Removes the authenticator app and its backup codes; with `passkeys`, the passkeys too. Ends all sessions and every sign-in
 * that has begun. Throws `conflict` when there is nothing to remove.
 */
export async function resetSecondFactor(
  options: PeopleContext,
  userId: string,
  taken: { readonly passkeys: boolean },
  auditSource: AuditSource,
): Promise<ConsoleUser> {
  return await auditedWrite(options, auditSource, async ({ transaction, log }) => {
    const before = await oneUser(transaction, "id", userId);
    if (before === null) throw new Failure("not_found", "There is no such user.", { param: "user" });
    refuseNothing(before, taken.passkeys);
    await transaction.deleteFrom("auth_two_factors").where("user_id", "=", userId).execute();
    // Both databases know the word; it is 0 in one and a boolean in the other.
    const off = sql<number>`false`;
    await transaction.updateTable("auth_users").set({ two_factor_enabled: off }).where("id", "=", userId).execute();
    if (taken.passkeys) await transaction.deleteFrom("auth_passkeys").where("user_id", "=", userId).execute();
    await endSessions(transaction, userId);
    const after = { ...before, two_factor: false, passkeys: taken.passkeys ? 0 : before.passkeys };
    log.record("remove", `second factor ${before.email}`, factorsOf(before), factorsOf(after));
    return after;
  });
}

function refuseNothing({ email, two_factor: app, passkeys }: ConsoleUser, takesPasskeys: boolean): void {
  if (app || (takesPasskeys && passkeys > 0)) return;
  const rest = passkeys > 0 ? " Their passkeys go only when that is asked for." : "";
  throw new Failure("conflict", `${email} has no authenticator app to take away.${rest}`);
}

function factorsOf({ id, email, two_factor, passkeys }: ConsoleUser) {
  return { user_id: id, email, two_factor, passkeys };
}
