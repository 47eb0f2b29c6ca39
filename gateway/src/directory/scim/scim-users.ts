import { bounds, Failure, orNotFound } from "#core/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { readFilePeople, refuseFilePeople } from "../people/file-people.ts";
import { insertUser } from "../people/new-users.ts";
import { deleteResetLinks, type UserRow, userRow, userView } from "../people/people-rows.ts";
import { removeToken } from "../people/tokens.ts";
import { changeUser } from "../people/users.ts";
import { countRows, deleteRows, findRow, findRows, putRow, setColumns } from "../rows.ts";
import type { Directory, SealedWrite, Write } from "../store.ts";
import { type ScimList, type ScimPage, userCondition } from "./scim-filter.ts";
import { applyGroupRights, nameKey } from "./scim-groups.ts";

/** Attributes (RFC 7643) that are only stored and returned. */
type ScimAttributes = Readonly<Record<string, unknown>>;

export interface ScimUserForm {
  readonly userName: string;
  readonly externalId: string | null;
  readonly active: boolean;
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  readonly attributes: ScimAttributes;
}

export interface ScimUser extends ScimUserForm {
  /** The id of the console user. */
  readonly id: string;
  readonly groups: readonly { readonly id: string; readonly displayName: string }[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly version: number;
}

/** Oldest first. */
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

/** An existing user with the same address is connected, unless they are an administrator or managed by the config file. */
export async function createScimUser(context: Write, form: ScimUserForm): Promise<ScimUser> {
  const { transaction, at } = context;
  await refuseTakenName(transaction, form.userName, null);
  const count = await countRows(transaction.selectFrom("scim_users").where("removed_at", "is", null));
  if (count >= bounds.scimUsersMax) {
    throw new Failure("conflict", `SCIM manages ${count} users, which is the maximum. Delete some first.`);
  }
  const existing = await findRow(transaction, "auth_users", { email: form.email });
  if (existing !== undefined) await refuseConnection(transaction, existing);
  const { email, name } = form;
  const userId = existing?.id ?? (await insertUser(context, { email, name, passwordHash: null, grants: [] }));
  const before = await findRow(transaction, "scim_users", { user_id: userId });
  const columns = {
    ...columnsOf(form),
    made: before?.made ?? (existing === undefined ? 1 : 0),
    deactivated: before?.deactivated ?? 0,
    removed_at: null,
    version: (before?.version ?? 0) + 1,
    created_at: at,
    updated_at: at,
  };
  await putRow(transaction, "scim_users", { user_id: userId }, columns);
  if (existing !== undefined) await updateNameAndEmail(context, existing, form);
  await setActive(context, userId, form.active);
  return await requireScimUser(transaction, userId);
}

/** If `change` throws, nothing changes. */
export async function changeScimUser(
  context: Write,
  id: string,
  change: (before: ScimUser) => ScimUserForm,
): Promise<ScimUser> {
  const { transaction, at } = context;
  const row = await requireRow(transaction, id);
  const before = await requireScimUser(transaction, id);
  const form = change(before);
  if (isSame(before, form)) return before;
  await refuseFilePeople(transaction, "users", id, `user ${row.email}`);
  if (nameKey(form.userName) !== nameKey(row.user_name)) await refuseTakenName(transaction, form.userName, id);
  const columns = { ...columnsOf(form), version: row.version + 1, updated_at: at };
  await setColumns(transaction, "scim_users", { user_id: id }, columns);
  await updateNameAndEmail(context, await userRow(transaction, id), form);
  await setActive(context, id, form.active);
  return await requireScimUser(transaction, id);
}

/** Disables the user, and removes them from SCIM. If `check` throws, nothing changes. */
export async function removeScimUser(
  context: SealedWrite,
  id: string,
  check: (before: ScimUser) => void,
): Promise<void> {
  const { transaction, at } = context;
  const row = await requireRow(transaction, id);
  check(await requireScimUser(transaction, id));
  await refuseFilePeople(transaction, "users", id, `user ${row.email}`);
  await setActive(context, id, false);
  await deleteRows(transaction, "scim_members", { user_id: id });
  await applyGroupRights(context, [id]);
  const columns = { name_key: null, removed_at: at, version: row.version + 1, updated_at: at };
  await setColumns(transaction, "scim_users", { user_id: id }, columns);
}

/**
 * Deactivation disables the user and their keys, and deletes their sessions, agents, tokens and invitations. SCIM cannot enable a user
 * who was disabled by hand.
 */
async function setActive(context: AuditedWrite, userId: string, active: boolean): Promise<void> {
  const { transaction } = context;
  const { disabled } = await userRow(transaction, userId);
  if (active === (disabled === 0)) return;
  const row = await requireRow(transaction, userId);
  if (active) {
    if (row.deactivated === 0) return;
    await changeUser(context, userId, { disabled: false });
  } else {
    await changeUser(context, userId, { disabled: true, keys: "disable" });
    await revokeTokens(context, userId);
    await deleteRows(transaction, "invitations", { invited_by: userId });
  }
  await setColumns(transaction, "scim_users", { user_id: userId }, { deactivated: active ? 0 : 1 });
}

/** Tokens of the config file stay; they are not valid while their owner is disabled. */
async function revokeTokens(context: AuditedWrite, userId: string): Promise<void> {
  const fileTokens = (await readFilePeople(context.transaction)).tokens;
  const tokens = await findRows(context.transaction, "admin_tokens", { owner_id: userId }, "id");
  for (const { id } of tokens) if (!fileTokens.includes(id)) await removeToken(context, id);
}

async function updateNameAndEmail(
  { transaction, log, at }: AuditedWrite,
  before: UserRow,
  form: ScimUserForm,
): Promise<void> {
  const { email, name } = form;
  if (before.email === email && before.name === name) return;
  if (before.email !== email) {
    const other = await findRow(transaction, "auth_users", { email });
    if (other !== undefined) throw conflictOf("emails", `There is already a user ${email}.`);
    // The owner of the old address may have a reset link.
    await deleteResetLinks(transaction, before.id);
  }
  const columns = { email, name, updated_at: new Date(at).toISOString() };
  await setColumns(transaction, "auth_users", { id: before.id }, columns);
  log.record("update", `user ${before.email}`, userView(before), userView({ ...before, email, name }));
}

async function refuseConnection(transaction: Connection, user: UserRow): Promise<void> {
  const { email } = user;
  const connected = await scimUserRow(transaction, user.id);
  if (connected !== null) throw conflictOf("emails", `There is already a user ${email}.`);
  if (user.administrator === 1) {
    throw conflictOf("emails", `${email} is an administrator and cannot be managed by SCIM. See docs/scim.md.`);
  }
  await refuseFilePeople(transaction, "users", user.id, `user ${email}`);
}

async function refuseTakenName(transaction: Connection, userName: string, own: string | null): Promise<void> {
  const row = await findRow(transaction, "scim_users", { name_key: nameKey(userName) });
  if (row !== undefined && row.user_id !== own) throw conflictOf("userName", `There is already a user ${userName}.`);
}

async function requireRow(transaction: Connection, id: string): Promise<ScimUserRow> {
  return orNotFound(await scimUserRow(transaction, id), "resource", null);
}

async function requireScimUser(transaction: Connection, id: string): Promise<ScimUser> {
  return orNotFound(await oneScimUser(transaction, id), "resource", null);
}

function columnsOf({ userName: user_name, externalId: external_id, attributes }: ScimUserForm) {
  return { user_name, name_key: nameKey(user_name), external_id, attributes: JSON.stringify(attributes) };
}

function isSame(before: ScimUser, form: ScimUserForm): boolean {
  const fields = ["userName", "externalId", "active", "email", "name"] as const;
  const sameAttributes = JSON.stringify(before.attributes) === JSON.stringify(form.attributes);
  return sameAttributes && fields.every((name) => before[name] === form[name]);
}

function conflictOf(param: string, message: string): Failure {
  return new Failure("conflict", message, { param });
}

/** Without users who were removed from SCIM. */
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
    // The console can disable a user without a new version.
    version: 2 * row.version + row.disabled,
  }));
}
