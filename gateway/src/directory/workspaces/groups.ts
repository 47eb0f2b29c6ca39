import type { ConsoleGroup } from "@sluice/contract/console";
import { bounds, Failure } from "#core/index.ts";
import { type Connection, insertRows, patternsOf, removeRows, updateRow } from "#storage/tables.ts";
import { budgetProblems } from "../budgets/fallback-models.ts";
import { leaveBudgetPolicies } from "../budgets/policies.ts";
import { leaveGuardrails } from "../guardrails/guardrails.ts";
import {
  type Problem,
  refuseExisting,
  refuseFileDeclared,
  refuseFileOwned,
  refuseProblems,
  refuseSuspended,
} from "../refusals.ts";
import { countRows, findRow, findRows, setColumns } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import * as scopes from "./workspace-rows.ts";

interface GroupChange extends scopes.ScopeChange {
  readonly name?: string | undefined;
}

/** Ordered by name. */
export async function groups(
  { database: { kysely: connection } }: ControlDirectory,
  workspaceId: string,
): Promise<readonly ConsoleGroup[]> {
  const rows = await findRows(connection, "groups", { workspace_id: workspaceId }, "name");
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
  return rows.map((row) => scopes.consoleGroup(row, keys.get(row.id) ?? 0));
}

export async function addGroup(
  context: ControlWrite,
  workspaceId: string,
  wanted: GroupChange & { readonly name: string },
): Promise<ConsoleGroup> {
  const { transaction } = context;
  const workspace = await scopes.workspaceOf(transaction, workspaceId);
  refuseSuspended(workspace, `workspace ${workspace.slug}`);
  refuseProblems(await scopes.grantProblems(transaction, wanted.pass_through));
  refuseProblems(await budgetProblems(transaction, wanted.budget));
  const group = scopes.groupRow(context, wanted, workspaceId);
  await refuseTakenName(transaction, group);
  await insertRows(context, scopes.groupObject(workspace.slug), [group]);
  refuseProblems(await groupCountProblems(transaction, workspaceId));
  return scopes.consoleGroup(group, 0);
}

export async function updateGroup(
  context: ControlWrite,
  workspaceId: string,
  idOrName: string,
  change: GroupChange,
): Promise<ConsoleGroup> {
  const { transaction } = context;
  const workspace = await scopes.workspaceOf(transaction, workspaceId);
  const before = await scopes.groupOf(transaction, workspaceId, idOrName);
  refuseFileOwned(before, `group ${before.name}`);
  refuseProblems(await scopes.grantProblems(transaction, change.pass_through, patternsOf(before.pass_through)));
  refuseProblems(await budgetProblems(transaction, change.budget, before));
  const after: scopes.GroupRow = {
    ...before,
    name: change.name ?? before.name,
    ...scopes.changedGrants(before, change),
  };
  if (after.name !== before.name) await refuseTakenName(transaction, after);
  await updateRow(context, scopes.groupObject(workspace.slug), { before, after });
  return scopes.consoleGroup(after, (await keysOf(transaction, after.id)).inUse);
}

/**
 * Revoked and suspended keys move to the group `default`, or else to the first by name, since they stay in the list of keys. Throws
 * `conflict` if the group has keys in use, or is the last one of its workspace.
 */
export async function removeGroup(context: ControlWrite, workspaceId: string, idOrName: string): Promise<void> {
  const { transaction } = context;
  const workspace = await scopes.workspaceOf(transaction, workspaceId);
  const row = await scopes.groupOf(transaction, workspaceId, idOrName);
  refuseFileDeclared(row, `group ${row.name}`);
  const keys = await keysOf(transaction, row.id);
  if (keys.inUse > 0) {
    const message = `The group ${row.name} has ${keys.inUse} keys in use. Move them to another group or revoke them first.`;
    throw new Failure("conflict", message);
  }
  const target = await scopes.firstGroup(transaction, workspaceId, row.id);
  if (target === undefined) {
    throw new Failure("conflict", `The group ${row.name} is the last of its workspace. Create another one first.`);
  }
  await leaveGuardrails(context, workspace, [row.id]);
  await leaveBudgetPolicies(context, [row.id]);
  await setColumns(transaction, "api_keys", { group_id: row.id }, { group_id: target.id });
  const moved = { idle_keys: keys.idle, idle_keys_moved_to: target.name };
  await removeRows(context, scopes.groupObject(workspace.slug), [row], moved);
}

async function keysOf(connection: Connection, groupId: string) {
  const all = connection.selectFrom("api_keys").where("group_id", "=", groupId);
  const inUse = await countRows(all.where("revoked_at", "is", null).where("managed_by", "!=", "suspended"));
  return { idle: (await countRows(all)) - inUse, inUse };
}

async function refuseTakenName(connection: Connection, { workspace_id, name }: scopes.GroupRow): Promise<void> {
  refuseExisting(
    await findRow(connection, "groups", { workspace_id, name }),
    `group ${name} in this workspace`,
    "name",
  );
}

/** Call after inserting the new groups. */
export async function groupCountProblems(connection: Connection, workspaceId: string): Promise<readonly Problem[]> {
  const n = await countRows(
    connection.selectFrom("groups").where("workspace_id", "=", workspaceId).where("managed_by", "!=", "suspended"),
  );
  if (n <= bounds.workspaceGroupsMax) return [];
  return [{ path: [], message: `A workspace has at most ${bounds.workspaceGroupsMax} groups.`, code: "conflict" }];
}
