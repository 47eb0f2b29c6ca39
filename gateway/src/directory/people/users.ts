import type { ConsoleUser, LeaverKeys } from "@sluice/contract/console";
import { isConsoleLanguage, type UserSort } from "@sluice/contract/words";
import { sql } from "kysely";
import { Failure, orNotFound } from "#core/index.ts";
import type { Paged } from "#ports/index.ts";
import { type AuditedWrite, type Connection, contains, sortedPage } from "#storage/tables.ts";
import { leaveBudgetPolicies } from "../budgets/policies.ts";
import { refuseProblems } from "../refusals.ts";
import { installation, setManualRole } from "../rights/right-rows.ts";
import { deleteRows, findRows, not, setColumns } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { readFilePeople, releaseFromFile } from "./file-people.ts";
import { applyLeaverDecision } from "./key-owners.ts";
import { endLostAccess } from "./lost-access.ts";
import { lastOwnerProblems } from "./members.ts";
import * as people from "./people-rows.ts";

interface UserFilter {
  /** Part of the address or the name, case-insensitive. */
  readonly search?: string | undefined;
  readonly role?: "administrator" | "other" | undefined;
  readonly state?: "enabled" | "disabled" | undefined;
  /** Users who were not signed in since this time, Unix milliseconds. */
  readonly unseenSince?: number | undefined;
  /** Default: by address. */
  readonly sort?: UserSort | undefined;
  /** Sort values of `spend`: USD by user id. */
  readonly spend?: ReadonlyMap<string, number> | undefined;
}

/** Addresses of some users, by id. */
export async function emailsOf(
  { database }: Directory,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await findRows(database.kysely, "auth_users", { id: userIds });
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** A page of users. All that match are read to be sorted and counted. */
export async function listUsers(
  { database }: Directory,
  { search = "", role, state, unseenSince, sort = "who", spend }: UserFilter,
  cursor: string | null,
  limit: number,
): Promise<Paged<ConsoleUser> & { readonly total: number }> {
  let query = database.kysely.selectFrom("auth_users").selectAll();
  if (role !== undefined) query = query.where("administrator", "=", Number(role === "administrator"));
  if (state !== undefined) query = query.where("disabled", "=", Number(state === "disabled"));
  if (unseenSince !== undefined) {
    query = query.where((eb) => eb.or([eb("last_seen_at", "is", null), eb("last_seen_at", "<", unseenSince)]));
  }
  if (search !== "") {
    query = query.where((eb) => eb.or([contains(eb.ref("email"), search), contains(eb.ref("name"), search)]));
  }
  const rows = await query.execute();
  const sortBy = sort.replace("-", "") as keyof typeof sortValues | "spend";
  const sortValueOf = sortBy === "spend" ? (row: people.UserRow) => spend?.get(row.id) ?? 0 : sortValues[sortBy];
  const positionOf = (row: people.UserRow) => ({ value: sortValueOf(row), id: row.email });
  const { page, next } = sortedPage(rows, positionOf, { sort, cursor, limit });
  return { data: await consoleUsers(database.kysely, page), next, total: rows.length };
}

/** Users who never signed in sort before the others. */
const sortValues = {
  who: (row: people.UserRow) => row.email,
  role: (row: people.UserRow) => 1 - row.administrator,
  made: (row: people.UserRow) => new Date(row.created_at).getTime(),
  seen: (row: people.UserRow) => row.last_seen_at ?? 0,
} satisfies Record<Exclude<UserSort, `-${string}` | "spend">, unknown>;

export async function oneUser(connection: Connection, by: "id" | "email", value: string): Promise<ConsoleUser | null> {
  const rows = connection.selectFrom("auth_users").selectAll().where(by, "=", value);
  const [user] = await consoleUsers(connection, await rows.execute());
  return user ?? null;
}

export async function requireUser(connection: Connection, userId: string): Promise<ConsoleUser> {
  return orNotFound(await oneUser(connection, "id", userId), "user");
}

interface UserChange {
  readonly administrator?: boolean;
  readonly disabled?: boolean;
  readonly keys?: LeaverKeys | undefined;
  /** A session that does not end when the rights change. */
  readonly sessionToKeep?: string | null;
}

/**
 * Ends the user's sessions if their rights change. Throws `conflict` if no administrator would remain. `keys`: the decision about keys
 * that the user can no longer manage.
 */
export async function updateUser(context: Write, userId: string, change: UserChange): Promise<ConsoleUser> {
  const { email } = await people.userRow(context.transaction, userId);
  await releaseFromFile(context.transaction, "users", userId, `user ${email}`);
  if (change.administrator !== undefined) {
    const role = change.administrator ? ("administrator" as const) : null;
    await setManualRole(context.transaction, { userId, workspaceId: installation, role, email });
  }
  await changeUser(context, userId, change);
  return await requireUser(context.transaction, userId);
}

/** Like `updateUser`, without checking whether the config file or an identity provider manages the user. */
export async function changeUser(context: AuditedWrite, userId: string, change: UserChange): Promise<void> {
  const { transaction, log } = context;
  const before = await people.userRow(transaction, userId);
  const after = {
    ...before,
    administrator: Number(change.administrator ?? before.administrator === 1),
    disabled: Number(change.disabled ?? before.disabled === 1),
  };
  if (after.administrator === 0 || after.disabled === 1)
    refuseProblems(await people.lastAdministratorProblems(transaction, before));
  if (after.administrator !== before.administrator || after.disabled !== before.disabled) {
    const columns = { administrator: after.administrator, disabled: after.disabled };
    await setColumns(transaction, "auth_users", { id: userId }, columns);
    // A session must not keep or gain rights that it was not opened with.
    await people.endSessions(transaction, userId, change.sessionToKeep ?? null);
    log.record("update", `user ${before.email}`, people.userView(before), people.userView(after));
  }
  const loses = after.administrator < before.administrator || after.disabled > before.disabled;
  // A reset link must not work after the user is enabled again.
  if (after.disabled > before.disabled) await people.deleteResetLinks(transaction, userId);
  if (loses || change.keys !== undefined)
    await applyLeaverDecision(context, { leaver: before, keys: change.keys ?? null });
  if (loses) await endLostAccess(context, { userId });
}

/**
 * Deletes the user with all memberships, tokens, invitations, sessions and credentials; the audit log keeps their actions. Throws
 * `conflict` for the last administrator or owner, and `missing_required_parameter` if they have keys in use and `keys` is null.
 */
export async function removeUser(context: Write, userId: string, keys: LeaverKeys | null): Promise<void> {
  const { transaction, log } = context;
  const user = await people.userRow(transaction, userId);
  await releaseFromFile(transaction, "users", userId, `user ${user.email}`);
  refuseProblems(await people.lastAdministratorProblems(transaction, user));
  const places = await people.membershipsOf(transaction, [userId]);
  for (const place of places) refuseProblems(await lastOwnerProblems(transaction, place.id, userId));
  await deleteRows(transaction, "members", { user_id: userId });
  await deleteRows(transaction, "admin_tokens", { owner_id: userId });
  // Also delete invitations to them: an unused link would bring them back.
  await transaction
    .deleteFrom("invitations")
    .where((eb) => eb.or([eb("invited_by", "=", userId), eb("email", "=", user.email)]))
    .execute();
  await people.deleteResetLinks(transaction, userId);
  await setColumns(transaction, "auth_users", { id: userId }, { administrator: 0 });
  await applyLeaverDecision(context, { leaver: user, keys });
  await endLostAccess(context, { userId, removed: true });
  await people.endSessions(transaction, userId);
  await leaveBudgetPolicies(context, [userId]);
  await deleteRows(transaction, "auth_users", { id: userId });
  const workspaces = places.map(({ slug, role }) => ({ slug, role }));
  log.record("remove", `user ${user.email}`, { ...people.userView(user), workspaces }, null);
}

async function consoleUsers(connection: Connection, rows: readonly people.UserRow[]): Promise<readonly ConsoleUser[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const places = await people.membershipsOf(connection, ids);
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
  const { suspended } = await readFilePeople(connection);
  return rows.map((row) => ({
    ...people.personOf(row),
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

/** The identity providers that manage users, by user id. */
async function userSources(connection: Connection, ids: readonly string[]): Promise<ReadonlyMap<string, Source[]>> {
  const found = new Map<string, Source[]>();
  const add = (userId: string, source: Source) => void found.set(userId, [...(found.get(userId) ?? []), source]);
  const directory = await findRows(connection, "scim_users", { user_id: ids, removed_at: null });
  for (const row of directory) {
    add(row.user_id, { source: "scim", made: row.made === 1, since: row.created_at });
  }
  const issuers = await findRows(connection, "person_claims", { user_id: ids, source: not("scim") }, "source");
  for (const row of issuers) add(row.user_id, { source: row.source, made: false, since: row.received_at });
  return found;
}

/**
 * Removes the authenticator app and its backup codes; with `passkeys`, the passkeys too. Ends all sessions and started
 * sign-ins. Throws `conflict` when there is nothing to remove.
 */
export async function resetSecondFactor(
  { transaction, log }: Write,
  userId: string,
  { passkeys: withPasskeys }: { readonly passkeys: boolean },
): Promise<ConsoleUser> {
  const before = await requireUser(transaction, userId);
  if (!before.two_factor && !(withPasskeys && before.passkeys > 0)) {
    const hint = before.passkeys > 0 ? " Set `passkeys` to remove their passkeys." : "";
    throw new Failure("conflict", `${before.email} has no authenticator app.${hint}`);
  }
  await deleteRows(transaction, "auth_two_factors", { user_id: userId });
  // 0 in SQLite, a boolean in PostgreSQL.
  const off = sql<number>`false`;
  await transaction.updateTable("auth_users").set({ two_factor_enabled: off }).where("id", "=", userId).execute();
  if (withPasskeys) await deleteRows(transaction, "auth_passkeys", { user_id: userId });
  await people.endSessions(transaction, userId);
  const after = { ...before, two_factor: false, passkeys: withPasskeys ? 0 : before.passkeys };
  log.record("remove", `second factor ${before.email}`, factorsView(before), factorsView(after));
  return after;
}

function factorsView({ id, email, two_factor, passkeys }: ConsoleUser) {
  return { user_id: id, email, two_factor, passkeys };
}
