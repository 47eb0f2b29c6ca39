import type { GroupConfig, WorkspaceConfig } from "@sluice/contract/config-file";
import { defaultGroupName } from "@sluice/contract/words";
import { chunksOf, reconcile, updateAction } from "../../database/reconcile.ts";
import { patternsText, scopeColumns } from "../../database/scope-columns.ts";
import { everyModel, type GroupRow, scopeView, type WorkspaceRow } from "../workspaces/tenant-rows.ts";
import { forgetBelongings } from "../workspaces/workspace-removal.ts";
import type { ApplyContext } from "./apply-context.ts";
import { applyKeys, placeOf } from "./apply-keys.ts";

/**
 * Workspaces with their groups and keys. A workspace or group that vanished but still holds what was made elsewhere
 * is handed over (released) instead of removed, so that nobody's key dies by an edit of a file that never named it.
 */
export async function applyWorkspaces(context: ApplyContext, workspaces: readonly WorkspaceConfig[]): Promise<void> {
  const existing = await context.transaction.selectFrom("workspaces").selectAll().execute();
  const bySlug = new Map(existing.map((row) => [row.slug, row]));
  const wanted = workspaces.map((workspace) => workspaceRow(context, workspace, bySlug.get(workspace.slug)));
  const ids = new Map(wanted.map((row) => [row.slug, row.id]));
  const slugs = new Map([...existing, ...wanted].map((row) => [row.id, row.slug]));
  const { create, update, vanished } = reconcile(existing, wanted, (row) => row.slug);
  await writeWorkspaces(context, create, update);
  const groups = await applyGroups(context, workspaces, ids, slugs);
  await applyKeys(context, workspaces, { workspaceIds: ids, groupIds: groups.ids, slugs });
  await removeGroups(context, groups.vanished, slugs);
  await removeWorkspaces(context, vanished);
}

async function writeWorkspaces(
  context: ApplyContext,
  create: readonly WorkspaceRow[],
  update: readonly { readonly before: WorkspaceRow; readonly after: WorkspaceRow }[],
): Promise<void> {
  const { transaction, log } = context;
  for (const chunk of chunksOf(create))
    await transaction
      .insertInto("workspaces")
      .values([...chunk])
      .execute();
  for (const row of create) log.record("create", `workspace ${row.slug}`, null, scopeView(row), row.id);
  for (const { before, after } of update) {
    await transaction.updateTable("workspaces").set(after).where("id", "=", after.id).execute();
    log.record(updateAction(before), `workspace ${after.slug}`, scopeView(before), scopeView(after), after.id);
  }
  if (create.length + update.length > 0) log.catalogChanged();
}

interface AppliedGroups {
  /** By `placeOf`. */
  readonly ids: ReadonlyMap<string, string>;
  readonly vanished: readonly GroupRow[];
}

async function applyGroups(
  context: ApplyContext,
  workspaces: readonly WorkspaceConfig[],
  workspaceIds: ReadonlyMap<string, string>,
  slugs: ReadonlyMap<string, string>,
): Promise<AppliedGroups> {
  const { transaction, log } = context;
  const existing = await transaction.selectFrom("groups").selectAll().execute();
  const byPlace = new Map(existing.map((row) => [placeOf(row), row]));
  const wanted = workspaces.flatMap((workspace) => {
    const workspaceId = workspaceIds.get(workspace.slug) ?? "";
    return groupsOf(workspace).map((group) =>
      groupRow(context, group, workspaceId, byPlace.get(placeOf({ workspace_id: workspaceId, name: group.name }))),
    );
  });
  const { create, update, vanished } = reconcile(existing, wanted, placeOf);
  for (const chunk of chunksOf(create))
    await transaction
      .insertInto("groups")
      .values([...chunk])
      .execute();
  for (const row of create) log.record("create", groupLabel(row, slugs), null, scopeView(row), row.workspace_id);
  for (const { before, after } of update) {
    await transaction.updateTable("groups").set(after).where("id", "=", after.id).execute();
    const views = [scopeView(before), scopeView(after)] as const;
    log.record(updateAction(before), groupLabel(after, slugs), ...views, after.workspace_id);
  }
  if (create.length + update.length > 0) log.catalogChanged();
  return { ids: new Map(wanted.map((row) => [placeOf(row), row.id])), vanished };
}

function groupsOf(workspace: WorkspaceConfig): readonly GroupConfig[] {
  const groups = workspace.groups ?? [];
  return groups.length === 0 ? [{ name: defaultGroupName }] : groups;
}

async function removeGroups(
  context: ApplyContext,
  vanished: readonly GroupRow[],
  slugs: ReadonlyMap<string, string>,
): Promise<void> {
  const { transaction, log } = context;
  for (const row of vanished) {
    const key = await transaction.selectFrom("api_keys").select("id").where("group_id", "=", row.id).executeTakeFirst();
    if (key === undefined) {
      await transaction.deleteFrom("groups").where("id", "=", row.id).execute();
      log.record("remove", groupLabel(row, slugs), scopeView(row), null, row.workspace_id);
    } else {
      await transaction.updateTable("groups").set({ managed_by: "console" }).where("id", "=", row.id).execute();
      const views = [scopeView(row), scopeView({ ...row, managed_by: "console" })] as const;
      log.record("release", groupLabel(row, slugs), ...views, row.workspace_id);
    }
    log.catalogChanged();
  }
}

async function removeWorkspaces(context: ApplyContext, vanished: readonly WorkspaceRow[]): Promise<void> {
  const { transaction, log } = context;
  for (const row of vanished) {
    const group = await transaction
      .selectFrom("groups")
      .select("id")
      .where("workspace_id", "=", row.id)
      .executeTakeFirst();
    if (group === undefined) {
      await forgetBelongings(transaction, row.id);
      await transaction.deleteFrom("workspaces").where("id", "=", row.id).execute();
      log.record("remove", `workspace ${row.slug}`, scopeView(row), null, row.id);
    } else {
      await transaction.updateTable("workspaces").set({ managed_by: "console" }).where("id", "=", row.id).execute();
      const after = scopeView({ ...row, managed_by: "console" });
      log.record("release", `workspace ${row.slug}`, scopeView(row), after, row.id);
    }
    log.catalogChanged();
  }
}

function workspaceRow(
  context: ApplyContext,
  workspace: WorkspaceConfig,
  before: WorkspaceRow | undefined,
): WorkspaceRow {
  return {
    id: before?.id ?? context.ids.next("ws_"),
    slug: workspace.slug,
    name: workspace.name ?? workspace.slug,
    models: patternsText(workspace.models) ?? everyModel,
    pass_through: JSON.stringify(workspace.pass_through ?? []),
    ...scopeColumns(workspace.limits, workspace.budget),
    enabled: workspace.enabled === false ? 0 : 1,
    managed_by: "file",
    created_at: before?.created_at ?? context.at,
  };
}

function groupRow(
  context: ApplyContext,
  group: GroupConfig,
  workspaceId: string,
  before: GroupRow | undefined,
): GroupRow {
  return {
    id: before?.id ?? context.ids.next("grp_"),
    workspace_id: workspaceId,
    name: group.name,
    models: patternsText(group.models) ?? everyModel,
    pass_through: JSON.stringify(group.pass_through ?? []),
    ...scopeColumns(group.limits, group.budget),
    managed_by: "file",
    created_at: before?.created_at ?? context.at,
  };
}

function groupLabel(row: GroupRow, slugs: ReadonlyMap<string, string>): string {
  return `group ${slugs.get(row.workspace_id) ?? row.workspace_id}/${row.name}`;
}
