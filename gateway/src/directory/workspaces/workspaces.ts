import { defaultGroupName, nameLettersMax, slugPattern, slugRule } from "@sluice/contract/words";
import { Failure, nameCursor, nameOfCursor } from "#core/index.ts";
import type { Paged } from "#ports/index.ts";
import {
  type AuditedWrite,
  type Connection,
  contains,
  cutPage,
  insertRows,
  patternsOf,
  removeRows,
  updateRow,
} from "#storage/tables.ts";
import { refuseFileDeclared, refuseFileOwned, refuseProblems, refuseSuspended } from "../refusals.ts";
import { deleteRows, findRow, not } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import {
  changedGrants,
  countedWorkspaces,
  grantProblems,
  groupObject,
  groupRow,
  type ScopeChange,
  type StoredWorkspace,
  storedWorkspace,
  type WorkspaceRow,
  workspaceObject,
  workspaceOf,
  workspaceRow,
} from "./workspace-rows.ts";

interface NewWorkspace extends ScopeChange {
  readonly slug: string;
  readonly name?: string | undefined;
}

interface WorkspaceChange extends ScopeChange {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
}

interface WorkspaceFilter {
  /** Only these ids. null: all workspaces. */
  readonly ids: readonly string[] | null;
  /** Part of the slug or the name. */
  readonly search?: string | undefined;
}

export async function oneWorkspace(
  connection: Connection,
  by: "id" | "slug",
  value: string,
): Promise<StoredWorkspace | null> {
  const row = await countedWorkspaces(connection).where(`workspaces.${by}`, "=", value).executeTakeFirst();
  return row === undefined ? null : storedWorkspace(row);
}

/** Ordered by slug. */
export async function listWorkspaces(
  { database }: ControlDirectory,
  filter: WorkspaceFilter,
  cursor: string | null,
  limit: number,
): Promise<Paged<StoredWorkspace>> {
  if (filter.ids?.length === 0) return { data: [], next: null };
  let query = countedWorkspaces(database.kysely)
    .orderBy("workspaces.slug")
    .limit(limit + 1);
  if (filter.ids !== null) query = query.where("workspaces.id", "in", filter.ids);
  const { search } = filter;
  if (search !== undefined && search !== "") {
    query = query.where((eb) =>
      eb.or([contains(eb.ref("workspaces.slug"), search), contains(eb.ref("workspaces.name"), search)]),
    );
  }
  if (cursor !== null) query = query.where("workspaces.slug", ">", nameOfCursor(cursor));
  const rows = await query.execute();
  const { page, next } = cutPage(rows, limit, (last) => nameCursor(last.slug));
  return { data: page.map(storedWorkspace), next };
}

/** Makes a workspace with its first group, `default`. */
export async function addWorkspace(under: ControlWrite, wanted: NewWorkspace): Promise<StoredWorkspace> {
  checkName(wanted);
  if (!slugPattern.test(wanted.slug)) throw wrong("slug", slugRule);
  const { transaction } = under;
  refuseProblems(await grantProblems(transaction, wanted.pass_through));
  const workspace = workspaceRow(under, wanted);
  const group = groupRow(under, { name: defaultGroupName }, workspace.id);
  const taken = await oneWorkspace(transaction, "slug", workspace.slug);
  if (taken !== null) {
    refuseSuspended(taken, `workspace ${workspace.slug}`);
    throw new Failure("conflict", `There is already a workspace called ${workspace.slug}.`, { param: "slug" });
  }
  await insertRows(under, workspaceObject, [workspace]);
  await insertRows(under, groupObject(workspace.slug), [group]);
  return storedWorkspace({ ...workspace, groups: 1, keys: 0, members: 0 });
}

export async function updateWorkspace(
  under: ControlWrite,
  id: string,
  change: WorkspaceChange,
): Promise<StoredWorkspace> {
  checkName(change);
  const { transaction } = under;
  const before = await workspaceOf(transaction, id);
  refuseFileOwned(before, `workspace ${before.slug}`);
  refuseProblems(await grantProblems(transaction, change.pass_through, patternsOf(before.pass_through)));
  const after: WorkspaceRow = {
    ...before,
    name: change.name ?? before.name,
    ...changedGrants(before, change),
    enabled: change.enabled === undefined ? before.enabled : Number(change.enabled),
  };
  await updateRow(under, workspaceObject, { before, after });
  return storedWorkspace(
    await countedWorkspaces(transaction).where("workspaces.id", "=", id).executeTakeFirstOrThrow(),
  );
}

/**
 * Removes a workspace with its groups, revoked keys, members and notices. Throws `conflict` while it has a key that is not revoked, an
 * open task or an asset group. Ledger entries and ended tasks stay.
 */
export async function removeWorkspace(under: ControlWrite, id: string): Promise<void> {
  const row = await workspaceOf(under.transaction, id);
  refuseFileDeclared(row, `workspace ${row.slug}`);
  await refuseWorkspaceInUse(under.transaction, row);
  await removeWorkspaceRows(under, row);
}

function checkName({ name }: { readonly name?: string | undefined }): void {
  if (name === undefined || (name.trim() !== "" && name.length <= nameLettersMax)) return;
  throw wrong("name", `1 to ${nameLettersMax} letters`);
}

function wrong(param: string, rule: string): Failure {
  return new Failure("invalid_request", `\`${param}\`: ${rule}`, { param });
}

/** Throws `conflict` with what stands in the way: a key in use, an open task, an asset group. */
async function refuseWorkspaceInUse(connection: Connection, workspace: WorkspaceRow): Promise<void> {
  // The keys of people who signed in go with the workspace.
  const used = { workspace_id: workspace.id, revoked_at: null, managed_by: not("suspended"), person_id: null };
  const key = await findRow(connection, "api_keys", used);
  if (key !== undefined) throw inUse(workspace, `the key ${key.name} is still in use. Revoke its keys first.`);
  const work = await workLeft(connection, workspace.id);
  if (work !== null) throw inUse(workspace, work);
}

/** What a workspace has that would be lost without it, though no key of it is in use; null: nothing. */
export async function workLeft(connection: Connection, workspaceId: string): Promise<string | null> {
  const task = await findRow(connection, "tasks", { workspace_id: workspaceId, final: 0 });
  if (task !== undefined) return `the task ${task.id} has not ended. Cancel it, or wait for it.`;
  const assets = await findRow(connection, "asset_groups", { workspace_id: workspaceId });
  // They may stand in an upstream's library too, where removing the row would leave them for ever.
  return assets === undefined ? null : `it has assets, in ${assets.name}. Remove its asset groups first.`;
}

/**
 * Takes the workspace with its groups, its revoked and suspended keys, and whoever belongs to it. Ledger entries, ended tasks and the
 * audit log name it by its id and stay.
 */
async function removeWorkspaceRows(under: AuditedWrite, workspace: WorkspaceRow): Promise<void> {
  const { transaction, log } = under;
  const keys = await transaction
    .deleteFrom("api_keys")
    .where("workspace_id", "=", workspace.id)
    .returning(["digest", "old_digest"])
    .execute();
  await deleteRows(transaction, "groups", { workspace_id: workspace.id });
  // Its invitations and admin tokens go with its row; who was in it is for the audit log.
  const members = await transaction
    .deleteFrom("members")
    .where("workspace_id", "=", workspace.id)
    .returning(["user_id", "role"])
    .execute();
  await deleteRows(transaction, "notices", { workspace_id: workspace.id });
  await removeRows(under, workspaceObject, [workspace], { revoked_keys: keys.length, members });
  for (const key of keys) {
    log.keyChanged(key.digest);
    log.keyChanged(key.old_digest);
  }
}

function inUse(workspace: WorkspaceRow, why: string): Failure {
  return new Failure("conflict", `The workspace ${workspace.slug} cannot be removed: ${why}`);
}
