import type { ConsoleUser, LeaverKeys } from "@sluice/contract/console";
import { isConsoleLanguage } from "@sluice/contract/words";
import { sql } from "kysely";
import { Failure, nameCursor, nameOfCursor } from "#core/index.ts";
import type { Paged } from "#ports/index.ts";
import { type AuditedWrite, type Connection, contains, cutPage } from "#storage/tables.ts";
import { endAgents } from "../agents/agent-persons.ts";
import { installation, setByHand } from "../rights/given-rows.ts";
import { deleteRows, findRows, not, setColumns } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { forgetSuspended, refuseFilePeople, suspendedPeople } from "./file-people.ts";
import { settleKeys } from "./key-owners.ts";
import { refuseOwnerless } from "./members.ts";
import {
  dropResets,
  endSessions,
  membershipsOf,
  personOf,
  refuseUngoverned,
  type UserRow,
  userRow,
  userView,
} from "./people-rows.ts";

/** By address. `search` is part of an address or a name, in any case. */
export async function listUsers(
  { database }: Directory,
  search: string | null,
  cursor: string | null,
  limit: number,
): Promise<Paged<ConsoleUser>> {
  let query = database.kysely
    .selectFrom("auth_users")
    .selectAll()
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
  const rows = connection.selectFrom("auth_users").selectAll().where(by, "=", value);
  const [user] = await consoleUsers(connection, await rows.execute());
  return user ?? null;
}

/** The same of somebody who has to be there. */
export async function shownUser(connection: Connection, userId: string): Promise<ConsoleUser> {
  const user = await oneUser(connection, "id", userId);
  if (user === null) throw new Failure("not_found", "There is no such user.", { param: "user" });
  return user;
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
export async function updateUser(under: Write, userId: string, change: UserChange): Promise<ConsoleUser> {
  const { email } = await userRow(under.transaction, userId);
  await refuseFilePeople(under.transaction, "users", userId, `user ${email}`);
  await forgetSuspended(under.transaction, "users", userId);
  if (change.administrator !== undefined) {
    const role = change.administrator ? ("administrator" as const) : null;
    await setByHand(under.transaction, { userId, workspaceId: installation, role, email });
  }
  await changeUser(under, userId, change);
  return await shownUser(under.transaction, userId);
}

/** The change itself, whoever makes it. */
export async function changeUser(under: AuditedWrite, userId: string, change: UserChange): Promise<void> {
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
    await setColumns(transaction, "auth_users", { id: userId }, columns);
    // Another standing begins with another sign-in; a session from before must not carry over.
    await endSessions(transaction, userId, change.keptSession ?? null);
    log.record("update", `user ${before.email}`, userView(before), userView(after));
  }
  const loses = after.administrator < before.administrator || after.disabled > before.disabled;
  // Whoever is let in again begins with what is given to them then.
  if (after.disabled > before.disabled) await dropResets(transaction, userId);
  if (loses || change.keys !== undefined) await settleKeys(under, { leaver: before, keys: change.keys ?? null });
  if (loses) await endAgents(under, { userId });
}

/**
 * Removes the user with all memberships, tokens, invitations, sessions and credentials; the audit log keeps what they did. Throws
 * `conflict` for the last administrator, and `missing_required_parameter` when they made keys that are not revoked and `keys`
 * is null.
 */
export async function removeUser(under: Write, userId: string, keys: LeaverKeys | null): Promise<void> {
  const { transaction, log } = under;
  const user = await userRow(transaction, userId);
  await refuseFilePeople(transaction, "users", userId, `user ${user.email}`);
  await forgetSuspended(transaction, "users", userId);
  await refuseUngoverned(transaction, user);
  const places = await membershipsOf(transaction, [userId]);
  for (const place of places) await refuseOwnerless(transaction, place.id, userId);
  await deleteRows(transaction, "members", { user_id: userId });
  await deleteRows(transaction, "admin_tokens", { owner_id: userId });
  // Also those to them: a link they did not open yet would bring them back.
  await transaction
    .deleteFrom("invitations")
    .where((eb) => eb.or([eb("invited_by", "=", userId), eb("email", "=", user.email)]))
    .execute();
  await dropResets(transaction, userId);
  await setColumns(transaction, "auth_users", { id: userId }, { administrator: 0 });
  await settleKeys(under, { leaver: user, keys });
  await endAgents(under, { userId, removed: true });
  await endSessions(transaction, userId);
  await deleteRows(transaction, "auth_users", { id: userId });
  const workspaces = places.map(({ slug, role }) => ({ slug, role }));
  log.record("remove", `user ${user.email}`, { ...userView(user), workspaces }, null);
}

async function consoleUsers(connection: Connection, rows: readonly UserRow[]): Promise<readonly ConsoleUser[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const places = await membershipsOf(connection, ids);
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
    last_seen_at: row.last_seen_at,
    workspaces: (byUser.get(row.id) ?? []).map(({ id, slug, role }) => ({ id, slug, role })),
    sources: sources.get(row.id) ?? [],
  }));
}

type Source = ConsoleUser["sources"][number];

/** The directory and the issuers that keep some users, by user. */
async function userSources(connection: Connection, ids: readonly string[]): Promise<ReadonlyMap<string, Source[]>> {
  const found = new Map<string, Source[]>();
  const add = (userId: string, source: Source) => void found.set(userId, [...(found.get(userId) ?? []), source]);
  const directory = await findRows(connection, "scim_users", { user_id: ids, removed_at: null });
  for (const row of directory) {
    add(row.user_id, { source: "scim", made: row.made === 1, since: row.created_at });
  }
  const issuers = await findRows(connection, "person_claims", { user_id: ids, source: not("scim") }, "source");
  for (const row of issuers) add(row.user_id, { source: row.source, made: false, since: row.said_at });
  return found;
}

/**
 * Removes the authenticator app and its backup codes; with `passkeys`, the passkeys too. Ends all sessions and every sign-in
 * that has begun. Throws `conflict` when there is nothing to remove.
 */
export async function resetSecondFactor(
  { transaction, log }: Write,
  userId: string,
  taken: { readonly passkeys: boolean },
): Promise<ConsoleUser> {
  const before = await shownUser(transaction, userId);
  if (!before.two_factor && !(taken.passkeys && before.passkeys > 0)) {
    const rest = before.passkeys > 0 ? " Their passkeys go only when that is asked for." : "";
    throw new Failure("conflict", `${before.email} has no authenticator app to take away.${rest}`);
  }
  await deleteRows(transaction, "auth_two_factors", { user_id: userId });
  // Both databases know the word; it is 0 in one and a boolean in the other.
  const off = sql<number>`false`;
  await transaction.updateTable("auth_users").set({ two_factor_enabled: off }).where("id", "=", userId).execute();
  if (taken.passkeys) await deleteRows(transaction, "auth_passkeys", { user_id: userId });
  await endSessions(transaction, userId);
  const after = { ...before, two_factor: false, passkeys: taken.passkeys ? 0 : before.passkeys };
  log.record("remove", `second factor ${before.email}`, factorsOf(before), factorsOf(after));
  return after;
}

function factorsOf({ id, email, two_factor, passkeys }: ConsoleUser) {
  return { user_id: id, email, two_factor, passkeys };
}
