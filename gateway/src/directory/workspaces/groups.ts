import type { ConsoleGroup } from "@sluice/contract/console";
import { defaultGroupName } from "@sluice/contract/words";
import { bounds, Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { auditedWrite, type Connection, insertRows, patternsOf, removeRows, updateRow } from "#storage/tables.ts";
import { type ControlOptions, consoleWrite } from "../control-options.ts";
import { type Problem, refuseFileDeclared, refuseFileOwned, refuseProblems, refuseSuspended } from "../refusals.ts";
import {
  changedGrants,
  consoleGroup,
  type GroupRow,
  grantProblems,
  groupObject,
  groupOf,
  groupRow,
  type ScopeChange,
  workspaceOf,
} from "./workspace-rows.ts";

interface GroupChange extends ScopeChange {
  readonly name?: string | undefined;
}

/** Ordered by name. */
export async function groups(
  { database: { kysely: connection } }: ControlOptions,
  workspaceId: string,
): Promise<readonly ConsoleGroup[]> {
  const rows = await connection
    .selectFrom("groups")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("name")
    .execute();
  const counts = await connection
    .selectFrom("api_keys")
    .select("group_id")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null)
    .where("managed_by", "!=", "suspended")
    .groupBy("group_id")
    .execute();
  const keys = new Map(counts.map((row) => [row.group_id, Number(row.n)]));
  return rows.map((row) => consoleGroup(row, keys.get(row.id) ?? 0));
}

export async function addGroup(
  options: ControlOptions,
  workspaceId: string,
  wanted: GroupChange & { readonly name: string },
  auditSource: AuditSource,
): Promise<ConsoleGroup> {
  return await consoleWrite(options, auditSource, async (under) => {
    const { transaction } = under;
    const workspace = await workspaceOf(transaction, workspaceId);
    refuseSuspended(workspace, `workspace ${workspace.slug}`);
    refuseProblems(await grantProblems(transaction, wanted.pass_through));
    const group = groupRow(under, wanted, workspaceId);
    await refuseTakenName(transaction, group);
    await insertRows(under, groupObject(workspace.slug), [group]);
    refuseProblems(await groupCountProblems(transaction, workspaceId));
    return consoleGroup(group, 0);
  });
}

export async function updateGroup(
  options: ControlOptions,
  workspaceId: string,
  idOrName: string,
  change: GroupChange,
  auditSource: AuditSource,
): Promise<ConsoleGroup> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction } = under;
    const workspace = await workspaceOf(transaction, workspaceId);
    const before = await groupOf(transaction, workspaceId, idOrName);
    refuseFileOwned(before, `group ${before.name}`);
    refuseProblems(await grantProblems(transaction, change.pass_through, patternsOf(before.pass_through)));
    const after: GroupRow = {
      ...before,
      name: change.name ?? before.name,
      ...changedGrants(before, change),
    };
    if (after.name !== before.name) await refuseTakenName(transaction, after);
    await updateRow(under, groupObject(workspace.slug), { before, after });
    const keys = await keysOf(transaction, after.id);
    return consoleGroup(after, keys.inUse);
  });
}

/**
 * Its revoked keys move to the group `default`, or else to the first by name. Throws `conflict` while it has other keys, or is the
 * last group.
 */
export async function removeGroup(
  options: ControlOptions,
  workspaceId: string,
  idOrName: string,
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async (under) => {
    const { transaction } = under;
    const workspace = await workspaceOf(transaction, workspaceId);
    const row = await groupOf(transaction, workspaceId, idOrName);
    refuseFileDeclared(row, `group ${row.name}`);
    const keys = await keysOf(transaction, row.id);
    if (keys.inUse > 0) {
      const message = `The group ${row.name} has ${keys.inUse} keys in use. Move them to another group or revoke them first.`;
      throw new Failure("conflict", message);
    }
    const heir = await heirOf(transaction, row);
    await transaction.updateTable("api_keys").set({ group_id: heir.id }).where("group_id", "=", row.id).execute();
    await removeRows(under, groupObject(workspace.slug), [row], {
      idle_keys: keys.idle,
      idle_keys_moved_to: heir.name,
    });
  });
}

/** Who takes the revoked and suspended keys of a group that goes, so that they can still be looked up: `default`, else the first by name. */
async function heirOf(connection: Connection, group: GroupRow): Promise<GroupRow> {
  const others = connection
    .selectFrom("groups")
    .selectAll()
    .where("workspace_id", "=", group.workspace_id)
    .where("id", "!=", group.id);
  const heir =
    (await others.where("name", "=", defaultGroupName).executeTakeFirst()) ??
    (await others.orderBy("name").limit(1).executeTakeFirst());
  if (heir !== undefined) return heir;
  throw new Failure("conflict", `The group ${group.name} is the last of its workspace. Make another one first.`);
}

async function keysOf(connection: Connection, groupId: string) {
  const rows = await connection
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll<number>().as("all"))
    .select((eb) =>
      eb.fn
        .countAll<number>()
        .filterWhere("revoked_at", "is", null)
        .filterWhere("managed_by", "!=", "suspended")
        .as("used"),
    )
    .where("group_id", "=", groupId)
    .executeTakeFirstOrThrow();
  const inUse = Number(rows.used);
  return { idle: Number(rows.all) - inUse, inUse };
}

async function refuseTakenName(connection: Connection, group: GroupRow): Promise<void> {
  const taken = await connection
    .selectFrom("groups")
    .select(["id", "managed_by"])
    .where("workspace_id", "=", group.workspace_id)
    .where("name", "=", group.name)
    .executeTakeFirst();
  if (taken === undefined) return;
  refuseSuspended(taken, `group ${group.name}`);
  throw new Failure("conflict", `There is already a group called ${group.name} in this workspace.`, { param: "name" });
}

/** Asked once the new groups stand. */
export async function groupCountProblems(connection: Connection, workspaceId: string): Promise<readonly Problem[]> {
  const { n } = await connection
    .selectFrom("groups")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("workspace_id", "=", workspaceId)
    .where("managed_by", "!=", "suspended")
    .executeTakeFirstOrThrow();
  if (Number(n) <= bounds.workspaceGroupsMax) return [];
  return [{ path: [], message: `A workspace has at most ${bounds.workspaceGroupsMax} groups.`, code: "conflict" }];
}
