import type { RightsRule } from "@sluice/contract/config-file";
import { bounds, columnsOf, Failure, invalidRequest, membersOf, orNotFound } from "#core/index.ts";
import { type AuditedWrite, auditedWrite, type Connection, chunksOf, type Row } from "#storage/tables.ts";
import { userRow } from "../people/people-rows.ts";
import { applyClaims, rulesDigest, rulesOf } from "../rights/claimed-rights.ts";
import { countRows, deleteRows, findRow, findRows, setColumns } from "../rows.ts";
import type { SealedDirectory, SealedWrite } from "../store.ts";
import { groupCondition, type ScimList, type ScimPage } from "./scim-filter.ts";

type GroupRow = Row<"scim_groups">;

export interface ScimGroup {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  /** null: not requested. */
  readonly members: readonly { readonly id: string; readonly name: string }[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly version: number;
}

/** `set`: exactly these members. */
export interface ScimMemberChange {
  readonly what: "add" | "remove" | "set";
  readonly userIds: readonly string[];
}

export interface ScimGroupChange {
  readonly displayName?: string;
  readonly externalId?: string | null;
  readonly members: readonly ScimMemberChange[];
}

/** Oldest first. With members, a page has at least one group and otherwise at most `scimAnswerMembersMax` members. */
export async function listScimGroups(
  { database: { kysely: connection } }: SealedDirectory,
  { filter, offset, limit }: ScimPage,
  withMembers: boolean,
): Promise<ScimList<ScimGroup>> {
  let found = connection.selectFrom("scim_groups").selectAll();
  if (filter !== null) found = found.where((eb) => groupCondition(eb, filter));
  const total = await countRows(found);
  if (limit === 0) return { total, items: [] };
  const rows = await found.orderBy("created_at").orderBy("id").offset(offset).limit(limit).execute();
  const items: ScimGroup[] = [];
  let members = 0;
  for (const row of rows) {
    const group = await groupOf(connection, row, withMembers);
    members += group.members?.length ?? 0;
    if (items.length > 0 && members > bounds.scimAnswerMembersMax) break;
    items.push(group);
  }
  return { total, items };
}

export async function oneScimGroup({ database: { kysely } }: SealedDirectory, id: string, withMembers: boolean) {
  const row = await findRow(kysely, "scim_groups", { id });
  return row === undefined ? null : await groupOf(kysely, row, withMembers);
}

export async function createScimGroup(
  context: SealedWrite,
  { displayName, externalId = null, members }: ScimGroupChange & { readonly displayName: string },
): Promise<ScimGroup> {
  const { transaction, log, at } = context;
  await refuseTakenName(transaction, displayName, null);
  const count = await countRows(transaction.selectFrom("scim_groups"));
  if (count >= bounds.scimGroupsMax) {
    throw new Failure("conflict", `SCIM has created ${count} groups, which is the maximum. Delete some first.`);
  }
  const id = context.ids.next("scg_");
  const named = { ...columnsOf({ displayName, externalId }), name_key: nameKey(displayName) };
  const row: GroupRow = { id, ...named, version: 1, created_at: at, updated_at: at };
  await transaction.insertInto("scim_groups").values(row).execute();
  const { added } = await changeMembers(context, id, members);
  await applyGroupRights(context, added);
  log.record("create", `directory group ${displayName}`, null, { ...viewOf(row), members_added: added.length });
  return await groupOf(transaction, row, true);
}

export async function changeScimGroup(
  context: SealedWrite,
  id: string,
  change: (before: ScimGroup) => ScimGroupChange,
): Promise<ScimGroup> {
  const { transaction, log, at } = context;
  const before = await requireRow(transaction, id);
  const { displayName, externalId, members } = change(await groupOf(transaction, before, false));
  const columns = {
    display_name: displayName ?? before.display_name,
    name_key: nameKey(displayName ?? before.display_name),
    external_id: externalId === undefined ? before.external_id : externalId,
    version: Number(before.version) + 1,
    updated_at: at,
  };
  const after: GroupRow = { ...before, ...columns };
  if (after.name_key !== before.name_key) await refuseTakenName(transaction, after.display_name, id);
  const { added, removed } = await changeMembers(context, id, members);
  const isNamed = after.display_name !== before.display_name;
  if (isNamed || after.external_id !== before.external_id || added.length + removed.length > 0) {
    await setColumns(transaction, "scim_groups", { id }, columns);
    const counted = { members_added: added.length, members_removed: removed.length };
    log.record("update", `directory group ${before.display_name}`, viewOf(before), { ...viewOf(after), ...counted });
    // A new name may match other rules, for all members.
    await applyGroupRights(
      context,
      isNamed ? [...(await memberIds(transaction, id)), ...removed] : [...added, ...removed],
    );
  }
  return await groupOf(transaction, await requireRow(transaction, id), false);
}

export async function removeScimGroup(
  context: SealedWrite,
  id: string,
  check: (before: ScimGroup) => void,
): Promise<void> {
  const { transaction, log } = context;
  const before = await requireRow(transaction, id);
  check(await groupOf(transaction, before, false));
  const { removed } = await changeMembers(context, id, [{ what: "set", userIds: [] }]);
  await deleteRows(transaction, "scim_groups", { id });
  await applyGroupRights(context, removed);
  log.record("remove", `directory group ${before.display_name}`, viewOf(before), null);
}

/** Throws `invalid_request` for a user who is not managed by SCIM, and for too many members. */
async function changeMembers({ transaction }: AuditedWrite, groupId: string, changes: readonly ScimMemberChange[]) {
  /** Whether each user that a change names will be a member. */
  const isMember = new Map<string, boolean>();
  for (const { what, userIds } of changes) {
    if (what === "set") for (const id of await memberIds(transaction, groupId)) isMember.set(id, false);
    if (what === "set") for (const id of isMember.keys()) isMember.set(id, false);
    for (const id of userIds) isMember.set(id, what !== "remove");
  }
  const named = [...isMember.keys()];
  const before = new Set(await memberIds(transaction, groupId, named));
  const added = named.filter((id) => isMember.get(id) === true && !before.has(id));
  const removed = named.filter((id) => isMember.get(id) === false && before.has(id));
  const existing = await findRows(transaction, "scim_users", { user_id: added, removed_at: null });
  const userIds = new Set(existing.map((row) => row.user_id));
  const missing = added.find((id) => !userIds.has(id));
  if (missing !== undefined) {
    throw invalidRequest("members", `There is no user ${missing.slice(0, 128)}.`);
  }
  await deleteRows(transaction, "scim_members", { group_id: groupId, user_id: removed });
  for (const chunk of chunksOf(added)) {
    const rows = chunk.map((userId) => ({ group_id: groupId, user_id: userId }));
    await transaction.insertInto("scim_members").values(rows).execute();
  }
  const members = transaction.selectFrom("scim_members").where("group_id", "=", groupId);
  if (added.length > 0 && (await countRows(members)) > bounds.scimGroupMembersMax) {
    const message = `A group has at most ${bounds.scimGroupMembersMax} members.`;
    throw invalidRequest("members", message);
  }
  return { added, removed };
}

async function memberIds(
  transaction: Connection,
  groupId: string,
  among: readonly string[] | null = null,
): Promise<readonly string[]> {
  const where = { group_id: groupId, ...(among === null ? {} : { user_id: among }) };
  return (await findRows(transaction, "scim_members", where)).map((row) => row.user_id);
}

async function refuseTakenName(transaction: Connection, displayName: string, own: string | null): Promise<void> {
  const row = await findRow(transaction, "scim_groups", { name_key: nameKey(displayName) });
  if (row === undefined || row.id === own) return;
  throw new Failure("conflict", `There is already a group ${displayName}.`, { param: "displayName" });
}

async function requireRow(transaction: Connection, id: string): Promise<GroupRow> {
  return orNotFound(await findRow(transaction, "scim_groups", { id }), "resource", null);
}

async function groupOf(connection: Connection, row: GroupRow, withMembers: boolean): Promise<ScimGroup> {
  const { name_key: _key, ...columns } = row;
  return { ...membersOf(columns), members: withMembers ? await membersIn(connection, row.id) : null };
}

async function membersIn(connection: Connection, groupId: string) {
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

const source = "scim";

/**
 * Applies the rules of SCIM after groups of users have changed. More than `rightsAtOnceMax` users are only marked: `reapplyGroupRights`
 * handles them after the transaction, so that it blocks no other write for long.
 */
export async function applyGroupRights(context: SealedWrite, userIds: readonly string[]): Promise<void> {
  if (userIds.length <= bounds.rightsAtOnceMax) {
    for (const userId of userIds) await applyGroupRightsTo(context, userId);
    return;
  }
  await setColumns(context.transaction, "person_claims", { source, user_id: userIds }, { rules_digest: "" });
}

/** Applies the rules of SCIM to all marked users, and to all users if the rules have changed. */
export async function reapplyGroupRights(options: SealedDirectory): Promise<void> {
  const { kysely } = options.database;
  for (let after = ""; ; ) {
    const people = await usersWithOldRules(kysely, await rulesOf(kysely, options.vault, source), after);
    const last = people.at(-1);
    if (last === undefined) return;
    after = last;
    await auditedWrite(options, { actor: "rules of SCIM", ip: null }, async (context) => {
      for (const userId of people) await applyGroupRightsTo(context, userId);
    });
  }
}

async function usersWithOldRules(
  connection: Connection,
  rules: readonly RightsRule[],
  after: string,
): Promise<readonly string[]> {
  const rows = await connection
    .selectFrom("scim_users")
    .leftJoin("person_claims", (join) =>
      join.onRef("person_claims.user_id", "=", "scim_users.user_id").on("person_claims.source", "=", source),
    )
    .select("scim_users.user_id")
    .where("scim_users.user_id", ">", after)
    .where((eb) =>
      eb.or([
        eb("person_claims.rules_digest", "!=", rulesDigest(rules)),
        ...(rules.length > 0 ? [eb("person_claims.rules_digest", "is", null)] : []),
      ]),
    )
    .orderBy("scim_users.user_id")
    .limit(bounds.rightsAtOnceMax)
    .execute();
  return rows.map((row) => row.user_id);
}

async function applyGroupRightsTo(context: SealedWrite, userId: string): Promise<void> {
  const { transaction, log } = context;
  const rows = await transaction
    .selectFrom("scim_members")
    .innerJoin("scim_groups", "scim_groups.id", "scim_members.group_id")
    .select("scim_groups.display_name")
    .where("scim_members.user_id", "=", userId)
    .orderBy("scim_groups.display_name")
    .limit(bounds.scimGroupsOfUserMax)
    .execute();
  const groups = rows.map((row) => row.display_name);
  const problems = await applyClaims(context, { userId, source, claims: { groups } });
  if (problems.length === 0) return;
  const { email } = await userRow(transaction, userId);
  log.note({ action: "update", object: `user ${email}`, workspaceId: null, after: { scim: problems } });
}

/** Names are compared ignoring case. */
export function nameKey(name: string): string {
  return name.toLowerCase();
}
