import { bounds, Failure } from "#core/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { readFilePeople, refuseFilePeople } from "../people/file-people.ts";
import { insertUser } from "../people/new-users.ts";
import { dropResets, type UserRow, userRow, userView } from "../people/people-rows.ts";
import { removeToken } from "../people/tokens.ts";
import { changeUser } from "../people/users.ts";
import { countRows, deleteRows, findRow, findRows, putRow, setColumns } from "../rows.ts";
import type { Directory, SealedWrite, Write } from "../store.ts";
import { type ScimList, type ScimPage, userCondition } from "./scim-filter.ts";
import { nameKey, takeGroups } from "./scim-groups.ts";

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
  { database: { kysely: connection } }: Directory,
  page: ScimPage,
): Promise<ScimList<ScimUser>> {
  const { filter, offset, limit } = page;
  let found = scimUserRows(connection);
  if (filter !== null) found = found.where((eb) => userCondition(eb, filter));
  const total = await countRows(found);
  if (limit === 0) return { total, items: [] };
  const rows = found.orderBy("scim_users.created_at").orderBy("scim_users.user_id").offset(offset).limit(limit);
  return { total, items: await scimUsersOf(connection, await rows.execute()) };
}

export async function oneScimUser(connection: Connection, id: string): Promise<ScimUser | null> {
  const row = await scimUserRow(connection, id);
  return row === null ? null : ((await scimUsersOf(connection, [row]))[0] ?? null);
}

/** Connects somebody who is there by their address, unless they are an administrator or the config file's. */
export async function createScimUser(under: Write, form: ScimUserForm): Promise<ScimUser> {
  const { transaction, at } = under;
  await refuseTakenName(transaction, form.userName, null);
  await refuseTooMany(transaction);
  const known = await findRow(transaction, "auth_users", { email: form.email });
  if (known !== undefined) await refuseConnection(transaction, known);
  const { email, name } = form;
  const userId = known?.id ?? (await insertUser(under, { email, name, passwordHash: null, grants: [] }));
  const before = await findRow(transaction, "scim_users", { user_id: userId });
  const columns = {
    ...columnsOf(form),
    made: before?.made ?? (known === undefined ? 1 : 0),
    deactivated: before?.deactivated ?? 0,
    removed_at: null,
    version: (before?.version ?? 0) + 1,
    created_at: at,
    updated_at: at,
  };
  await putRow(transaction, "scim_users", { user_id: userId }, columns);
  if (known !== undefined) await rename(under, known, form);
  await setActive(under, userId, form.active);
  return await written(transaction, userId);
}

/** `change` may throw; then nothing happens. */
export async function changeScimUser(
  under: Write,
  id: string,
  change: (before: ScimUser) => ScimUserForm,
): Promise<ScimUser> {
  const { transaction, at } = under;
  const row = await presentRow(transaction, id);
  const before = await written(transaction, id);
  const form = change(before);
  if (isSame(before, form)) return before;
  await refuseFilePeople(transaction, "users", id, `user ${row.email}`);
  if (nameKey(form.userName) !== nameKey(row.user_name)) await refuseTakenName(transaction, form.userName, id);
  const columns = { ...columnsOf(form), version: row.version + 1, updated_at: at };
  await setColumns(transaction, "scim_users", { user_id: id }, columns);
  await rename(under, await userRow(transaction, id), form);
  await setActive(under, id, form.active);
  return await written(transaction, id);
}

/** The person stays, disabled and with what they did; the directory finds them no more. `check` may throw. */
export async function removeScimUser(under: SealedWrite, id: string, check: (before: ScimUser) => void): Promise<void> {
  const { transaction, at } = under;
  const row = await presentRow(transaction, id);
  check(await written(transaction, id));
  await refuseFilePeople(transaction, "users", id, `user ${row.email}`);
  await setActive(under, id, false);
  await deleteRows(transaction, "scim_members", { user_id: id });
  await takeGroups(under, [id]);
  const columns = { name_key: null, removed_at: at, version: row.version + 1, updated_at: at };
  await setColumns(transaction, "scim_users", { user_id: id }, columns);
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
    await deleteRows(transaction, "invitations", { invited_by: userId });
  }
  await setColumns(transaction, "scim_users", { user_id: userId }, { deactivated: active ? 0 : 1 });
}

/** Those that the config file names are its own; they do nothing while their owner is disabled. */
async function dropTokens(under: AuditedWrite, userId: string): Promise<void> {
  const kept = (await readFilePeople(under.transaction)).tokens;
  const tokens = await findRows(under.transaction, "admin_tokens", { owner_id: userId }, "id");
  for (const { id } of tokens) if (!kept.includes(id)) await removeToken(under, id);
}

/** Name and address as the directory says them now. */
async function rename({ transaction, log, at }: AuditedWrite, before: UserRow, form: ScimUserForm): Promise<void> {
  const { email, name } = form;
  if (before.email === email && before.name === name) return;
  if (before.email !== email) {
    const other = await findRow(transaction, "auth_users", { email });
    if (other !== undefined) throw taken("emails", `There is a user ${email} already.`);
    // A link was handed to whoever reads the old address.
    await dropResets(transaction, before.id);
  }
  const columns = { email, name, updated_at: new Date(at).toISOString() };
  await setColumns(transaction, "auth_users", { id: before.id }, columns);
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
  const row = await findRow(transaction, "scim_users", { name_key: nameKey(userName) });
  if (row !== undefined && row.user_id !== own) throw taken("userName", `There is a user ${userName} already.`);
}

async function refuseTooMany(transaction: Connection): Promise<void> {
  const count = await countRows(transaction.selectFrom("scim_users").where("removed_at", "is", null));
  if (count < bounds.scimUsersMax) return;
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

function columnsOf({ userName: user_name, externalId: external_id, attributes }: ScimUserForm) {
  return { user_name, name_key: nameKey(user_name), external_id, attributes: JSON.stringify(attributes) };
}

function isSame(before: ScimUser, form: ScimUserForm): boolean {
  const plainly = ["userName", "externalId", "active", "email", "name"] as const;
  const isSameText = JSON.stringify(before.attributes) === JSON.stringify(form.attributes);
  return isSameText && plainly.every((name) => before[name] === form[name]);
}

function taken(param: string, message: string): Failure {
  return new Failure("conflict", message, { param });
}

/** Those that a directory has here now, with what the person's own row says. */
function scimUserRows(connection: Connection) {
  return connection
    .selectFrom("scim_users")
    .innerJoin("auth_users", "auth_users.id", "scim_users.user_id")
    .selectAll("scim_users")
    .select(["auth_users.email", "auth_users.name", "auth_users.disabled"])
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
  const ids = rows.map((row) => row.user_id);
  const groups = await connection
    .selectFrom("scim_members")
    .innerJoin("scim_groups", "scim_groups.id", "scim_members.group_id")
    .select(["scim_members.user_id", "scim_groups.id", "scim_groups.display_name"])
    .where("scim_members.user_id", "in", ids)
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
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    // The console may disable them too, and nothing is written here then.
    version: 2 * row.version + row.disabled,
  }));
}
