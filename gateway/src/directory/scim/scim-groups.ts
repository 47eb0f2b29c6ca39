import { bounds, Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Connection, chunksOf, type Row } from "#storage/tables.ts";
import type { RightsContext } from "../people/people-rows.ts";
import { groupCondition, type ScimList, type ScimPage } from "./scim-filter.ts";
import { takeGroups } from "./scim-rights.ts";
import { nameKey } from "./scim-users.ts";

type GroupRow = Row<"scim_groups">;

export interface ScimGroup {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  /** null: they were not asked for. */
  readonly members: readonly ScimMember[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly version: number;
}

interface ScimMember {
  readonly id: string;
  readonly name: string;
}

/** Changes of a group's members, in their order. `set`: these and nobody else. */
export interface ScimMemberChange {
  readonly what: "add" | "remove" | "set";
  readonly userIds: readonly string[];
}

export interface ScimGroupChange {
  readonly displayName?: string;
  readonly externalId?: string | null;
  readonly members: readonly ScimMemberChange[];
}

/** In the order in which they came. With members, a page ends before it has more of them than an answer may; it has one group at least. */
export async function listScimGroups(
  { database: { kysely: connection } }: RightsContext,
  { filter, offset, limit }: ScimPage,
  withMembers: boolean,
): Promise<ScimList<ScimGroup>> {
  let counting = connection.selectFrom("scim_groups").select((eb) => eb.fn.countAll<number>().as("count"));
  let query = connection
    .selectFrom("scim_groups")
    .selectAll()
    .orderBy("created_at")
    .orderBy("id")
    .offset(offset)
    .limit(limit);
  if (filter !== null) {
    counting = counting.where((eb) => groupCondition(eb, filter));
    query = query.where((eb) => groupCondition(eb, filter));
  }
  const total = Number((await counting.executeTakeFirstOrThrow()).count);
  if (limit === 0) return { total, items: [] };
  const items: ScimGroup[] = [];
  let members = 0;
  for (const row of await query.execute()) {
    const group = await groupOf(connection, row, withMembers);
    members += group.members?.length ?? 0;
    if (items.length > 0 && members > bounds.scimAnswerMembersMax) break;
    items.push(group);
  }
  return { total, items };
}

export async function oneScimGroup(
  { database: { kysely } }: RightsContext,
  id: string,
  withMembers: boolean,
): Promise<ScimGroup | null> {
  return await groupById(kysely, id, withMembers);
}

async function groupById(connection: Connection, id: string, withMembers: boolean): Promise<ScimGroup | null> {
  const row = await connection.selectFrom("scim_groups").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : await groupOf(connection, row, withMembers);
}

export async function createScimGroup(
  options: RightsContext,
  { displayName, externalId = null, members }: ScimGroupChange & { readonly displayName: string },
  auditSource: AuditSource,
): Promise<ScimGroup> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction, log, at } = under;
    await refuseTakenName(transaction, displayName, null);
    await refuseTooMany(transaction);
    const id = options.ids.next("scg_");
    const row: GroupRow = {
      id,
      display_name: displayName,
      name_key: nameKey(displayName),
      external_id: externalId,
      version: 1,
      created_at: at,
      updated_at: at,
    };
    await transaction.insertInto("scim_groups").values(row).execute();
    const { added } = await changeMembers(under, id, members);
    await takeGroups(under, added);
    log.record("create", `directory group ${displayName}`, null, { ...viewOf(row), members_added: added.length });
    return await groupOf(transaction, row, true);
  });
}

export async function changeScimGroup(
  options: RightsContext,
  id: string,
  change: (before: ScimGroup) => ScimGroupChange,
  auditSource: AuditSource,
): Promise<ScimGroup> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction, log, at } = under;
    const before = await presentRow(transaction, id);
    const { displayName, externalId, members } = change(await groupOf(transaction, before, false));
    const after: GroupRow = {
      ...before,
      display_name: displayName ?? before.display_name,
      name_key: nameKey(displayName ?? before.display_name),
      external_id: externalId === undefined ? before.external_id : externalId,
      version: Number(before.version) + 1,
      updated_at: at,
    };
    if (after.name_key !== before.name_key) await refuseTakenName(transaction, after.display_name, id);
    const { added, removed } = await changeMembers(under, id, members);
    const isNamed = after.display_name !== before.display_name;
    if (isNamed || after.external_id !== before.external_id || added.length + removed.length > 0) {
      const { display_name, name_key, external_id, version, updated_at } = after;
      const columns = { display_name, name_key, external_id, version, updated_at };
      await transaction.updateTable("scim_groups").set(columns).where("id", "=", id).execute();
      const counted = { members_added: added.length, members_removed: removed.length };
      log.record("update", `directory group ${before.display_name}`, viewOf(before), { ...viewOf(after), ...counted });
      // Another name may give others rights, to everybody who is in it.
      await takeGroups(under, isNamed ? [...(await memberIds(transaction, id)), ...removed] : [...added, ...removed]);
    }
    return (await groupById(transaction, id, false)) as ScimGroup;
  });
}

export async function removeScimGroup(
  options: RightsContext,
  id: string,
  check: (before: ScimGroup) => void,
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async (under) => {
    const { transaction, log } = under;
    const before = await presentRow(transaction, id);
    check(await groupOf(transaction, before, false));
    const { removed } = await changeMembers(under, id, [{ what: "set", userIds: [] }]);
    await transaction.deleteFrom("scim_groups").where("id", "=", id).execute();
    await takeGroups(under, removed);
    log.record("remove", `directory group ${before.display_name}`, viewOf(before), null);
  });
}

interface MembersChanged {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Adding somebody who is there and removing somebody who is not change nothing. Throws for somebody whom the directory does not have here. */
async function changeMembers(
  { transaction }: AuditedWrite,
  groupId: string,
  changes: readonly ScimMemberChange[],
): Promise<MembersChanged> {
  const touched = new Map<string, boolean>();
  for (const { what, userIds } of changes) {
    if (what === "set") for (const id of await memberIds(transaction, groupId)) touched.set(id, false);
    if (what === "set") for (const id of touched.keys()) touched.set(id, false);
    for (const id of userIds) touched.set(id, what !== "remove");
  }
  const wanted = [...touched.keys()];
  const held = new Set(await memberIds(transaction, groupId, wanted));
  const added = wanted.filter((id) => touched.get(id) === true && !held.has(id));
  const removed = wanted.filter((id) => touched.get(id) === false && held.has(id));
  await refuseUnknown(transaction, added);
  for (const chunk of chunksOf(removed)) {
    const gone = transaction.deleteFrom("scim_members").where("group_id", "=", groupId);
    await gone.where("user_id", "in", [...chunk]).execute();
  }
  for (const chunk of chunksOf(added)) {
    const rows = chunk.map((userId) => ({ group_id: groupId, user_id: userId }));
    await transaction.insertInto("scim_members").values(rows).execute();
  }
  if (added.length > 0) await refuseTooManyMembers(transaction, groupId);
  return { added, removed };
}

async function memberIds(
  transaction: Connection,
  groupId: string,
  among: readonly string[] | null = null,
): Promise<readonly string[]> {
  const query = transaction.selectFrom("scim_members").select("user_id").where("group_id", "=", groupId);
  if (among === null) return (await query.execute()).map((row) => row.user_id);
  const found: string[] = [];
  for (const chunk of chunksOf(among)) {
    for (const row of await query.where("user_id", "in", [...chunk]).execute()) found.push(row.user_id);
  }
  return found;
}

async function refuseUnknown(transaction: Connection, userIds: readonly string[]): Promise<void> {
  for (const chunk of chunksOf(userIds)) {
    const rows = await transaction
      .selectFrom("scim_users")
      .select("user_id")
      .where("user_id", "in", [...chunk])
      .where("removed_at", "is", null)
      .execute();
    if (rows.length === chunk.length) continue;
    const known = new Set(rows.map((row) => row.user_id));
    const missing = chunk.find((id) => !known.has(id)) ?? "";
    throw new Failure("invalid_request", `There is no user ${missing.slice(0, 128)}.`, { param: "members" });
  }
}

async function refuseTooManyMembers(transaction: Connection, groupId: string): Promise<void> {
  const { count } = await transaction
    .selectFrom("scim_members")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("group_id", "=", groupId)
    .executeTakeFirstOrThrow();
  if (Number(count) <= bounds.scimGroupMembersMax) return;
  throw new Failure("invalid_request", `A group has at most ${bounds.scimGroupMembersMax} members.`, {
    param: "members",
  });
}

async function refuseTakenName(transaction: Connection, displayName: string, own: string | null): Promise<void> {
  const row = await transaction
    .selectFrom("scim_groups")
    .select("id")
    .where("name_key", "=", nameKey(displayName))
    .executeTakeFirst();
  if (row === undefined || row.id === own) return;
  throw new Failure("conflict", `There is a group ${displayName} already.`, { param: "displayName" });
}

async function refuseTooMany(transaction: Connection): Promise<void> {
  const { count } = await transaction
    .selectFrom("scim_groups")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) < bounds.scimGroupsMax) return;
  throw new Failure("conflict", `There are ${count} groups by SCIM, the most there may be.`);
}

async function presentRow(transaction: Connection, id: string): Promise<GroupRow> {
  const row = await transaction.selectFrom("scim_groups").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new Failure("not_found", "There is no such resource.");
  return row;
}

async function groupOf(connection: Connection, row: GroupRow, withMembers: boolean): Promise<ScimGroup> {
  return {
    id: row.id,
    displayName: row.display_name,
    externalId: row.external_id,
    members: withMembers ? await membersOf(connection, row.id) : null,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    version: Number(row.version),
  };
}

async function membersOf(connection: Connection, groupId: string): Promise<readonly ScimMember[]> {
  return await connection
    .selectFrom("scim_members")
    .innerJoin("auth_users", "auth_users.id", "scim_members.user_id")
    .select(["auth_users.id", "auth_users.name"])
    .where("scim_members.group_id", "=", groupId)
    .orderBy("auth_users.id")
    .execute();
}

function viewOf(row: GroupRow) {
  return { id: row.id, display_name: row.display_name, external_id: row.external_id };
}
