import type { GroupConfig, WorkspaceConfig } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { defaultGroupName } from "@sluice/contract/words";
import { insertRows, patternsOf, reconcile, suspendRows, updateRow } from "#storage/tables.ts";
import type { ApplyContext } from "../control-options.ts";
import { conflictsAt, refuseConflicts } from "../refusals.ts";
import { groupCountProblems } from "../workspaces/groups.ts";
import {
  type GroupRow,
  grantProblems,
  groupObject,
  groupRow,
  type WorkspaceRow,
  workspaceObject,
  workspaceRow,
} from "../workspaces/workspace-rows.ts";
import { workLeft } from "../workspaces/workspaces.ts";
import { applyKeys, placeOf } from "./apply-keys.ts";

/**
 * Workspaces with their groups and keys. A workspace or group that vanished but still holds what was made elsewhere
 * is handed over (released) instead of suspended, so that nobody's key dies by an edit of a file that never named it.
 */
export async function applyWorkspaces(context: ApplyContext, workspaces: readonly WorkspaceConfig[]): Promise<void> {
  const existing = await context.transaction.selectFrom("workspaces").selectAll().execute();
  const bySlug = new Map(existing.map((row) => [row.slug, row]));
  const wanted = workspaces.map((workspace) => workspaceRow(context, workspace, bySlug.get(workspace.slug)));
  const ids = new Map(wanted.map((row) => [row.slug, row.id]));
  const slugs = new Map([...existing, ...wanted].map((row) => [row.id, row.slug]));
  const { create, update, vanished } = reconcile(existing, wanted, (row) => row.slug);
  const found: Conflict[] = [];
  for (const [index, { slug, pass_through }] of workspaces.entries()) {
    const granted = patternsOf(bySlug.get(slug)?.pass_through ?? "[]");
    const problems = await grantProblems(context.transaction, pass_through, granted);
    found.push(...conflictsAt(["workspaces", index], problems));
  }
  refuseConflicts(found);
  await insertRows(context, workspaceObject, create);
  for (const change of update) await updateRow(context, workspaceObject, change);
  const groups = await applyGroups(context, workspaces, ids, slugs);
  await applyKeys(context, workspaces, { workspaceIds: ids, groupIds: groups.ids, slugs });
  const inUse = new Set<string>();
  for (const { id } of vanished) if ((await workLeft(context.transaction, id)) !== null) inUse.add(id);
  await suspendGroups(context, groups.vanished, inUse, slugs);
  await suspendWorkspaces(context, vanished);
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
  const { transaction } = context;
  const object = groupObject(slugs);
  const existing = await transaction.selectFrom("groups").selectAll().execute();
  const byPlace = new Map(existing.map((row) => [placeOf(row), row]));
  const wanted: GroupRow[] = [];
  const found: Conflict[] = [];
  for (const [index, workspace] of workspaces.entries()) {
    const workspaceId = workspaceIds.get(workspace.slug) ?? "";
    for (const [at, group] of groupsOf(workspace).entries()) {
      const before = byPlace.get(placeOf({ workspace_id: workspaceId, name: group.name }));
      const problems = await grantProblems(transaction, group.pass_through, patternsOf(before?.pass_through ?? "[]"));
      found.push(...conflictsAt(["workspaces", index, "groups", at], problems));
      wanted.push(groupRow(context, group, workspaceId, before));
    }
  }
  refuseConflicts(found);
  const { create, update, vanished } = reconcile(existing, wanted, placeOf);
  await insertRows(context, object, create);
  for (const change of update) await updateRow(context, object, change);
  const grown = new Set(create.map((row) => row.workspace_id));
  for (const [index, { slug }] of workspaces.entries()) {
    const workspaceId = workspaceIds.get(slug) ?? "";
    if (!grown.has(workspaceId)) continue;
    refuseConflicts(conflictsAt(["workspaces", index, "groups"], await groupCountProblems(transaction, workspaceId)));
  }
  return { ids: new Map(wanted.map((row) => [placeOf(row), row.id])), vanished };
}

function groupsOf(workspace: WorkspaceConfig): readonly GroupConfig[] {
  const groups = workspace.groups ?? [];
  return groups.length === 0 ? [{ name: defaultGroupName }] : groups;
}

/** `inUse`: workspaces that stay, though the file has them no more. A workspace keeps its groups. */
async function suspendGroups(
  context: ApplyContext,
  vanished: readonly GroupRow[],
  inUse: ReadonlySet<string>,
  slugs: ReadonlyMap<string, string>,
): Promise<void> {
  const object = groupObject(slugs);
  for (const row of vanished) {
    const key = await context.transaction
      .selectFrom("api_keys")
      .select("id")
      .where("group_id", "=", row.id)
      .where("managed_by", "!=", "suspended")
      .executeTakeFirst();
    if (key === undefined && !inUse.has(row.workspace_id)) await suspendRows(context, object, [row]);
    else await updateRow(context, object, { before: row, after: { ...row, managed_by: "console" } });
  }
}

async function suspendWorkspaces(context: ApplyContext, vanished: readonly WorkspaceRow[]): Promise<void> {
  for (const row of vanished) {
    const group = await context.transaction
      .selectFrom("groups")
      .select("id")
      .where("workspace_id", "=", row.id)
      .where("managed_by", "!=", "suspended")
      .executeTakeFirst();
    if (group === undefined) await suspendRows(context, workspaceObject, [row]);
    else await updateRow(context, workspaceObject, { before: row, after: { ...row, managed_by: "console" } });
  }
}
