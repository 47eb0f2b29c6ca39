import { bounds, Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Connection } from "#storage/tables.ts";
import { readFilePeople, refuseFilePeople } from "../people/file-people.ts";
import {
  dropResets,
  type PeopleContext,
  type RightsContext,
  type UserRow,
  userRow,
  userRows,
  userView,
} from "../people/people-rows.ts";
import { removeToken } from "../people/tokens.ts";
import { insertUser } from "../people/user-creation.ts";
import { changeUser } from "../people/users.ts";
import { type ScimList, type ScimPage, userCondition } from "./scim-filter.ts";
import { takeGroups } from "./scim-rights.ts";

/** What a directory said of somebody beyond what is used here; kept to be answered with. Names as in RFC 7643. */
type ScimAttributes = Readonly<Record<string, unknown>>;

/** A user as a directory wants one. */
export interface ScimUserForm {
  readonly userName: string;
  readonly externalId: string | null;
  readonly active: boolean;
  /** Lower case: what they are known by here. */
  readonly email: string;
  /** What they are called here. */
  readonly name: string;
  readonly attributes: ScimAttributes;
}

export interface ScimUser extends ScimUserForm {
  /** Of the person; the same as everywhere else. */
  readonly id: string;
  readonly groups: readonly { readonly id: string; readonly displayName: string }[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Another with each change. */
  readonly version: number;
}

/** In the order in which they came. */
export async function listScimUsers(
  { database: { kysely: connection } }: PeopleContext,
  page: ScimPage,
): Promise<ScimList<ScimUser>> {
  const { filter, offset, limit } = page;
  let counting = connection
    .selectFrom("scim_users")
    .innerJoin("auth_users", "auth_users.id", "scim_users.user_id")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("scim_users.removed_at", "is", null);
  let rows = scimUserRows(connection)
    .orderBy("scim_users.created_at")
    .orderBy("scim_users.user_id")
    .offset(offset)
    .limit(limit);
  if (filter !== null) {
    counting = counting.where((eb) => userCondition(eb, filter));
    rows = rows.where((eb) => userCondition(eb, filter));
  }
  const total = Number((await counting.executeTakeFirstOrThrow()).count);
  return { total, items: limit === 0 ? [] : await scimUsersOf(connection, await rows.execute()) };
}

export async function oneScimUser(connection: Connection, id: string): Promise<ScimUser | null> {
  const row = await scimUserRow(connection, id);
  if (row === null) return null;
  const [user] = await scimUsersOf(connection, [row]);
  return user ?? null;
}

/** Connects somebody who is there by their address, unless they are an administrator or the config file's. */
export async function createScimUser(
  options: PeopleContext,
  form: ScimUserForm,
  auditSource: AuditSource,
): Promise<ScimUser> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction, at } = under;
    await refuseTakenName(transaction, form.userName, null);
    await refuseTooMany(transaction);
    const known = await userRows(transaction).where("email", "=", form.email).executeTakeFirst();
    if (known !== undefined) await refuseConnection(transaction, known);
    const { email, name } = form;
    const userId = known?.id ?? (await insertUser(under, options, { email, name, passwordHash: null, grants: [] }));
    const before = await transaction
      .selectFrom("scim_users")
      .select(["made", "deactivated", "version", "created_at"])
      .where("user_id", "=", userId)
      .executeTakeFirst();
    const columns = {
      ...columnsOf(form),
      made: before?.made ?? (known === undefined ? 1 : 0),
      deactivated: before?.deactivated ?? 0,
      removed_at: null,
      version: Number(before?.version ?? 0) + 1,
      created_at: at,
      updated_at: at,
    };
    await transaction
      .insertInto("scim_users")
      .values({ user_id: userId, ...columns })
      .onConflict((conflict) => conflict.column("user_id").doUpdateSet(columns))
      .execute();
    if (known !== undefined) await rename(under, known, form);
    await setActive(under, userId, form.active);
    return await written(transaction, userId);
  });
}

/** `change` may throw; then nothing happens. */
export async function changeScimUser(
  options: PeopleContext,
  id: string,
  change: (before: ScimUser) => ScimUserForm,
  auditSource: AuditSource,
): Promise<ScimUser> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction, at } = under;
    const row = await presentRow(transaction, id);
    const before = await written(transaction, id);
    const form = change(before);
    if (isSame(before, form)) return before;
    await refuseFilePeople(transaction, "users", id, `user ${row.email}`);
    if (nameKey(form.userName) !== nameKey(row.user_name)) await refuseTakenName(transaction, form.userName, id);
    await transaction
      .updateTable("scim_users")
      .set({ ...columnsOf(form), version: Number(row.version) + 1, updated_at: at })
      .where("user_id", "=", id)
      .execute();
    await rename(under, await userRow(transaction, id), form);
    await setActive(under, id, form.active);
    return await written(transaction, id);
  });
}

/** The person stays, disabled and with what they did; the directory finds them no more. `check` may throw. */
export async function removeScimUser(
  options: RightsContext,
  id: string,
  check: (before: ScimUser) => void,
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async (under) => {
    const { transaction, at } = under;
    const row = await presentRow(transaction, id);
    check(await written(transaction, id));
    await refuseFilePeople(transaction, "users", id, `user ${row.email}`);
    await setActive(under, id, false);
    await transaction.deleteFrom("scim_members").where("user_id", "=", id).execute();
    await takeGroups(under, [id]);
    await transaction
      .updateTable("scim_users")
      .set({ name_key: null, removed_at: at, version: Number(row.version) + 1, updated_at: at })
      .where("user_id", "=", id)
      .execute();
  });
}

/**
 * Whoever is switched off loses what they opened and what would open again: sessions, agents, tokens, links; their keys are
 * disabled, since nobody is there to be asked. Who was disabled here by hand is not enabled from elsewhere.
 */
async function setActive(under: AuditedWrite, userId: string, active: boolean): Promise<void> {
  const { transaction } = under;
  const { disabled } = await userRow(transaction, userId);
  if (active === (disabled === 0)) return;
  const row = await presentRow(transaction, userId);
  if (active) {
    if (row.deactivated === 0) return;
    await changeUser(under, userId, { disabled: false });
  } else {
    await changeUser(under, userId, { disabled: true, keys: "disable" });
    await dropTokens(under, userId);
    await transaction.deleteFrom("invitations").where("invited_by", "=", userId).execute();
  }
  await transaction
    .updateTable("scim_users")
    .set({ deactivated: active ? 0 : 1 })
    .where("user_id", "=", userId)
    .execute();
}

/** Those that the config file names are its own; they do nothing while their owner is disabled. */
async function dropTokens(under: AuditedWrite, userId: string): Promise<void> {
  const kept = (await readFilePeople(under.transaction)).tokens;
  const tokens = await under.transaction
    .selectFrom("admin_tokens")
    .select("id")
    .where("owner_id", "=", userId)
    .orderBy("id")
    .execute();
  for (const { id } of tokens) if (!kept.includes(id)) await removeToken(under, id);
}

/** Name and address as the directory says them now. */
async function rename({ transaction, log, at }: AuditedWrite, before: UserRow, form: ScimUserForm): Promise<void> {
  const { email, name } = form;
  if (before.email === email && before.name === name) return;
  if (before.email !== email) {
    const other = await userRows(transaction).where("email", "=", email).executeTakeFirst();
    if (other !== undefined) throw taken("emails", `There is a user ${email} already.`);
    // A link was handed to whoever reads the old address.
    await dropResets(transaction, before.id);
  }
  await transaction
    .updateTable("auth_users")
    .set({ email, name, updated_at: new Date(at).toISOString() })
    .where("id", "=", before.id)
    .execute();
  log.record("update", `user ${before.email}`, userView(before), userView({ ...before, email, name }));
}

/** An address alone takes over nobody who governs the installation, and nobody whom the config file owns. */
async function refuseConnection(transaction: Connection, known: UserRow): Promise<void> {
  const { email } = known;
  const connected = await scimUserRow(transaction, known.id);
  if (connected !== null) throw taken("emails", `There is a user ${email} already.`);
  if (known.administrator === 1) {
    throw taken("emails", `${email} is an administrator here, whom SCIM does not take over. See docs/scim.md.`);
  }
  await refuseFilePeople(transaction, "users", known.id, `user ${email}`);
}

async function refuseTakenName(transaction: Connection, userName: string, own: string | null): Promise<void> {
  const row = await transaction
    .selectFrom("scim_users")
    .select("user_id")
    .where("name_key", "=", nameKey(userName))
    .executeTakeFirst();
  if (row !== undefined && row.user_id !== own) throw taken("userName", `There is a user ${userName} already.`);
}

async function refuseTooMany(transaction: Connection): Promise<void> {
  const { count } = await transaction
    .selectFrom("scim_users")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  if (Number(count) < bounds.scimUsersMax) return;
  throw new Failure("conflict", `There are ${count} users by SCIM, the most there may be.`);
}

async function presentRow(transaction: Connection, id: string): Promise<ScimUserRow> {
  const row = await scimUserRow(transaction, id);
  if (row === null) throw new Failure("not_found", "There is no such resource.");
  return row;
}

async function written(transaction: Connection, id: string): Promise<ScimUser> {
  const user = await oneScimUser(transaction, id);
  if (user === null) throw new Failure("not_found", "There is no such resource.");
  return user;
}

function columnsOf({ userName, externalId, attributes }: ScimUserForm) {
  return {
    user_name: userName,
    name_key: nameKey(userName),
    external_id: externalId,
    attributes: JSON.stringify(attributes),
  };
}

function isSame(before: ScimUser, form: ScimUserForm): boolean {
  return (
    before.userName === form.userName &&
    before.externalId === form.externalId &&
    before.active === form.active &&
    before.email === form.email &&
    before.name === form.name &&
    JSON.stringify(before.attributes) === JSON.stringify(form.attributes)
  );
}

function taken(param: string, message: string): Failure {
  return new Failure("conflict", message, { param });
}

/** Those that a directory has here now, with what the person's own row says. */
function scimUserRows(connection: Connection) {
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

type ScimUserRow = Awaited<ReturnType<ReturnType<typeof scimUserRows>["executeTakeFirstOrThrow"]>>;

async function scimUserRow(connection: Connection, id: string): Promise<ScimUserRow | null> {
  const row = await scimUserRows(connection).where("scim_users.user_id", "=", id).executeTakeFirst();
  return row ?? null;
}

/** With the groups that they are in. */
async function scimUsersOf(connection: Connection, rows: readonly ScimUserRow[]): Promise<readonly ScimUser[]> {
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
