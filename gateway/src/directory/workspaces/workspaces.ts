import { defaultGroupName, nameLengthMax, slugPattern, slugRule, type WorkspaceSort } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { Paged } from "#ports/index.ts";
import {
  type Connection,
  contains,
  insertRows,
  patternsOf,
  removeRows,
  sortedPage,
  updateRow,
} from "#storage/tables.ts";
import { budgetProblems } from "../budgets/fallback-models.ts";
import { leaveBudgetPolicies } from "../budgets/policies.ts";
import { leaveGuardrails } from "../guardrails/guardrails.ts";
import { type Problem, refuseExisting, refuseFileDeclared, refuseFileOwned, refuseProblems } from "../refusals.ts";
import { findRow, not, setColumns } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import * as scopes from "./workspace-rows.ts";

interface NewWorkspace extends scopes.ScopeChange {
  readonly slug: string;
  readonly name?: string | undefined;
}

interface WorkspaceChange extends scopes.ScopeChange {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
}

interface WorkspaceFilter {
  /** null: all workspaces. */
  readonly ids: readonly string[] | null;
  /** Part of the slug or the name. */
  readonly search?: string | undefined;
  readonly sort?: WorkspaceSort | undefined;
}

export async function oneWorkspace(
  connection: Connection,
  by: "id" | "slug",
  value: string,
): Promise<scopes.StoredWorkspace | null> {
  const row = await scopes.countedWorkspaces(connection).where(`workspaces.${by}`, "=", value).executeTakeFirst();
  return row === undefined ? null : scopes.storedWorkspace(row);
}

/** A page of workspaces. All that match are read to be sorted and counted. */
export async function listWorkspaces(
  { database }: ControlDirectory,
  { ids, search = "", sort = "name" }: WorkspaceFilter,
  cursor: string | null,
  limit: number,
): Promise<Paged<scopes.StoredWorkspace> & { readonly total: number }> {
  if (ids?.length === 0) return { data: [], next: null, total: 0 };
  let query = scopes.countedWorkspaces(database.kysely);
  if (ids !== null) query = query.where("workspaces.id", "in", ids);
  if (search !== "") {
    query = query.where((eb) =>
      eb.or([contains(eb.ref("workspaces.slug"), search), contains(eb.ref("workspaces.name"), search)]),
    );
  }
  const rows = (await query.execute()).map(scopes.storedWorkspace);
  const sortValueOf = sortValues[sort.replace("-", "") as keyof typeof sortValues];
  const positionOf = (row: scopes.StoredWorkspace) => ({ value: sortValueOf(row), id: row.slug });
  const { page, next } = sortedPage(rows, positionOf, { sort, cursor, limit });
  return { data: page, next, total: rows.length };
}

const sortValues = {
  name: ({ name }: scopes.StoredWorkspace) => name.toLowerCase(),
  state: ({ enabled }: scopes.StoredWorkspace) => Number(!enabled),
  keys: ({ keys }: scopes.StoredWorkspace) => keys,
  groups: ({ groups }: scopes.StoredWorkspace) => groups,
  members: ({ members }: scopes.StoredWorkspace) => members,
  budget: ({ budget }: scopes.StoredWorkspace) => budget?.usd ?? null,
} satisfies Record<Exclude<WorkspaceSort, `-${string}`>, unknown>;

/** Creates a workspace with its first group, `default`. */
export async function addWorkspace(context: ControlWrite, wanted: NewWorkspace): Promise<scopes.StoredWorkspace> {
  refuseProblems(nameProblems(wanted));
  if (!slugPattern.test(wanted.slug)) refuseProblems([{ path: ["slug"], message: slugRule }]);
  const { transaction } = context;
  refuseProblems(await scopes.grantProblems(transaction, wanted.pass_through));
  refuseProblems(await budgetProblems(transaction, wanted.budget));
  const workspace = scopes.workspaceRow(context, wanted);
  const group = scopes.groupRow(context, { name: defaultGroupName }, workspace.id);
  const { slug } = workspace;
  refuseExisting(await findRow(transaction, "workspaces", { slug }), `workspace ${slug}`, "slug");
  await insertRows(context, scopes.workspaceObject, [workspace]);
  await insertRows(context, scopes.groupObject(slug), [group]);
  return scopes.storedWorkspace({ ...workspace, groups: 1, keys: 0, members: 0 });
}

export async function updateWorkspace(
  context: ControlWrite,
  id: string,
  change: WorkspaceChange,
): Promise<scopes.StoredWorkspace> {
  refuseProblems(nameProblems(change));
  const { transaction } = context;
  const before = await scopes.workspaceOf(transaction, id);
  refuseFileOwned(before, `workspace ${before.slug}`);
  refuseProblems(await scopes.grantProblems(transaction, change.pass_through, patternsOf(before.pass_through)));
  refuseProblems(await budgetProblems(transaction, change.budget, before));
  const after: scopes.WorkspaceRow = {
    ...before,
    name: change.name ?? before.name,
    ...scopes.changedGrants(before, change),
    enabled: change.enabled === undefined ? before.enabled : Number(change.enabled),
  };
  await updateRow(context, scopes.workspaceObject, { before, after });
  return scopes.storedWorkspace(
    await scopes.countedWorkspaces(transaction).where("workspaces.id", "=", id).executeTakeFirstOrThrow(),
  );
}

/**
 * Deletes a workspace with its groups, revoked and suspended keys, members, guardrails, alert rules and channels. Throws `conflict` while it has a key in
 * use, an open task or an asset group. Its files are
 * removed later. Ledger entries, ended tasks and the audit log stay.
 */
export async function removeWorkspace(context: ControlWrite, id: string): Promise<void> {
  const { transaction, log } = context;
  const row = await scopes.workspaceOf(transaction, id);
  refuseFileDeclared(row, `workspace ${row.slug}`);
  // The keys of agent sign-ins are deleted with the workspace.
  const inUse = { workspace_id: id, revoked_at: null, managed_by: not("suspended"), person_id: null };
  const key = await findRow(transaction, "api_keys", inUse);
  const problem =
    key === undefined ? await openWork(transaction, id) : `the key ${key.name} is still in use. Revoke its keys first.`;
  if (problem !== null) throw new Failure("conflict", `The workspace ${row.slug} cannot be deleted: ${problem}`);
  const keys = await transaction
    .deleteFrom("api_keys")
    .where("workspace_id", "=", id)
    .returning(["id", "digest", "old_digest"])
    .execute();
  // Removed by the worker of files, with their bytes.
  await setColumns(transaction, "files", { workspace_id: id }, { status: "removing", due_at: 0 });
  const groups = await transaction.deleteFrom("groups").where("workspace_id", "=", id).returning("id").execute();
  await leaveGuardrails(context, row, [id, ...groups.map((group) => group.id), ...keys.map((key) => key.id)]);
  await leaveBudgetPolicies(context, [id, ...groups.map((group) => group.id), ...keys.map((key) => key.id)]);
  // The database deletes invitations and admin tokens; the audit log keeps the members.
  const members = await transaction
    .deleteFrom("members")
    .where("workspace_id", "=", id)
    .returning(["user_id", "role"])
    .execute();
  await removeRows(context, scopes.workspaceObject, [row], { revoked_keys: keys.length, members });
  for (const { digest, old_digest } of keys) {
    log.keyChanged(digest);
    log.keyChanged(old_digest);
  }
}

function nameProblems({ name }: { readonly name?: string | undefined }): readonly Problem[] {
  if (name === undefined || (name.trim() !== "" && name.length <= nameLengthMax)) return [];
  return [{ path: ["name"], message: `must have 1 to ${nameLengthMax} characters` }];
}

/** Describes a task or assets that would be lost with the workspace; null: there are none. */
export async function openWork(connection: Connection, workspaceId: string): Promise<string | null> {
  const task = await findRow(connection, "tasks", { workspace_id: workspaceId, final: 0 });
  if (task !== undefined) return `the task ${task.id} has not ended. Cancel it, or wait for it.`;
  const assets = await findRow(connection, "asset_groups", { workspace_id: workspaceId });
  // Assets may also be in an upstream's library, where nothing would delete them afterwards.
  return assets === undefined ? null : `it has assets, in ${assets.name}. Delete its asset groups first.`;
}
