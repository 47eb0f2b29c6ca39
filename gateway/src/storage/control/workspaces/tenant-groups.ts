import type { ConsoleGroup } from "@sluice/contract/console";
import { defaultGroupName } from "@sluice/contract/words";
import { bounds, Failure } from "#core/index.ts";
import type { AuditSource, GroupChange, TenantStore } from "#ports/index.ts";
import { ChangeLog } from "../../changes/change-log.ts";
import type { Connection } from "../../database/database.ts";
import { changedScope, patternsText, scopeColumns } from "../../database/scope-columns.ts";
import type { ControlOptions } from "../config-file/apply-config.ts";
import {
  consoleGroup,
  everyModel,
  type GroupRow,
  groupIn,
  refuseFileOwned,
  scopeView,
  workspaceRow,
} from "./tenant-rows.ts";

type GroupPart = Pick<TenantStore, "groups" | "addGroup" | "updateGroup" | "removeGroup">;

export function tenantGroups(options: ControlOptions): GroupPart {
  return {
    groups: (workspaceId) => groupsOf(options.database.kysely, workspaceId),
    addGroup: (workspaceId, group, auditSource) => addGroup(options, workspaceId, group, auditSource),
    updateGroup: (workspaceId, idOrName, change, auditSource) =>
      updateGroup(options, { workspaceId, group: idOrName }, change, auditSource),
    removeGroup: (workspaceId, idOrName, auditSource) =>
      removeGroup(options, { workspaceId, group: idOrName }, auditSource),
  };
}

/** Whose group a write is about; by id or name. */
interface GroupPlace {
  readonly workspaceId: string;
  readonly group: string;
}

async function groupsOf(connection: Connection, workspaceId: string): Promise<readonly ConsoleGroup[]> {
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
    .groupBy("group_id")
    .execute();
  const keys = new Map(counts.map((row) => [row.group_id, Number(row.n)]));
  return rows.map((row) => consoleGroup(row, keys.get(row.id) ?? 0));
}

async function addGroup(
  options: ControlOptions,
  workspaceId: string,
  wanted: GroupChange & { readonly name: string },
  auditSource: AuditSource,
): Promise<ConsoleGroup> {
  const at = options.clock.now();
  const group: GroupRow = {
    id: options.ids.next("grp_"),
    workspace_id: workspaceId,
    name: wanted.name,
    models: patternsText(wanted.models) ?? everyModel,
    pass_through: JSON.stringify(wanted.pass_through ?? []),
    ...scopeColumns(wanted.limits, wanted.budget),
    managed_by: "console",
    created_at: at,
  };
  return await options.database.kysely.transaction().execute(async (transaction) => {
    const workspace = await workspaceRow(transaction, workspaceId);
    await refuseTakenName(transaction, group);
    await refuseTooMany(transaction, workspaceId);
    await transaction.insertInto("groups").values(group).execute();
    const log = new ChangeLog(auditSource, at);
    log.record("create", `group ${workspace.slug}/${group.name}`, null, scopeView(group), workspaceId);
    log.catalogChanged();
    await log.write(transaction);
    return consoleGroup(group, 0);
  });
}

async function updateGroup(
  options: ControlOptions,
  place: GroupPlace,
  change: GroupChange,
  auditSource: AuditSource,
): Promise<ConsoleGroup> {
  return await options.database.kysely.transaction().execute(async (transaction) => {
    const workspace = await workspaceRow(transaction, place.workspaceId);
    const before = await theGroup(transaction, place);
    refuseFileOwned(before, `group ${before.name}`);
    const after: GroupRow = {
      ...before,
      name: change.name ?? before.name,
      models: patternsText(change.models) ?? before.models,
      pass_through: patternsText(change.pass_through) ?? before.pass_through,
      ...changedScope(before, change),
    };
    if (after.name !== before.name) await refuseTakenName(transaction, after);
    const views = [scopeView(before), scopeView(after)] as const;
    if (JSON.stringify(views[0]) !== JSON.stringify(views[1])) {
      const log = new ChangeLog(auditSource, options.clock.now());
      await transaction.updateTable("groups").set(after).where("id", "=", after.id).execute();
      log.record("update", `group ${workspace.slug}/${before.name}`, ...views, workspace.id);
      log.catalogChanged();
      await log.write(transaction);
    }
    const keys = await keysOf(transaction, after.id);
    return consoleGroup(after, keys.inUse);
  });
}

async function removeGroup(options: ControlOptions, place: GroupPlace, auditSource: AuditSource): Promise<void> {
  await options.database.kysely.transaction().execute(async (transaction) => {
    const workspace = await workspaceRow(transaction, place.workspaceId);
    const row = await theGroup(transaction, place);
    refuseFileOwned(row, `group ${row.name}`);
    const keys = await keysOf(transaction, row.id);
    if (keys.inUse > 0) {
      const message = `The group ${row.name} has ${keys.inUse} keys in use. Move them to another group or revoke them first.`;
      throw new Failure("conflict", message);
    }
    const heir = await heirOf(transaction, row);
    await transaction.updateTable("api_keys").set({ group_id: heir.id }).where("group_id", "=", row.id).execute();
    await transaction.deleteFrom("groups").where("id", "=", row.id).execute();
    const log = new ChangeLog(auditSource, options.clock.now());
    const gone = { ...scopeView(row), revoked_keys: keys.revoked, revoked_keys_moved_to: heir.name };
    log.record("remove", `group ${workspace.slug}/${row.name}`, gone, null, workspace.id);
    log.catalogChanged();
    await log.write(transaction);
  });
}

async function theGroup(connection: Connection, place: GroupPlace): Promise<GroupRow> {
  const row = await groupIn(connection, place.workspaceId, place.group);
  if (row === null) throw new Failure("not_found", "There is no such group in this workspace.", { param: "group" });
  return row;
}

/** Who takes the revoked keys of a group that goes, so that they can still be looked up: `default`, else the first by name. */
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
    .select((eb) => [eb.fn.countAll<number>().as("all"), eb.fn.count<number>("revoked_at").as("revoked")])
    .where("group_id", "=", groupId)
    .executeTakeFirstOrThrow();
  const revoked = Number(rows.revoked);
  return { revoked, inUse: Number(rows.all) - revoked };
}

async function refuseTakenName(connection: Connection, group: GroupRow): Promise<void> {
  const taken = await connection
    .selectFrom("groups")
    .select("id")
    .where("workspace_id", "=", group.workspace_id)
    .where("name", "=", group.name)
    .executeTakeFirst();
  if (taken === undefined) return;
  throw new Failure("conflict", `There is already a group called ${group.name} in this workspace.`, { param: "name" });
}

async function refuseTooMany(connection: Connection, workspaceId: string): Promise<void> {
  const { n } = await connection
    .selectFrom("groups")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  if (Number(n) < bounds.workspaceGroupsMax) return;
  throw new Failure("conflict", `A workspace has at most ${bounds.workspaceGroupsMax} groups.`);
}
