import { budgetPoliciesMax, windowFaults } from "@sluice/contract/words";
import { orNotFound, type PolicyMatch } from "#core/index.ts";
import { type AuditedWrite, type Connection, insertRows, removeRows, updateRow } from "#storage/tables.ts";
import {
  conflictsAt,
  type Problem,
  refuseExisting,
  refuseFileDeclared,
  refuseFileOwned,
  refuseProblems,
} from "../refusals.ts";
import { findRow, findRows } from "../rows.ts";
import { namedMembers, ruleCountProblems, ruleSlug, unknownIds } from "../scoped-rules.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import { fallbackProblems } from "./fallback-models.ts";
import {
  changedPolicy,
  type PolicyDraft,
  type PolicyRecord,
  type PolicyRow,
  policyObject,
  policyRecord,
  policyRow,
} from "./policy-rows.ts";

/** Budget policies of a workspace, or of the installation (null), ordered by name. */
export async function listBudgetPolicies(
  { database }: ControlDirectory,
  workspaceId: string | null,
): Promise<readonly PolicyRecord[]> {
  return (await findRows(database.kysely, "budget_policies", { workspace_id: workspaceId }, "name")).map(policyRecord);
}

export async function createBudgetPolicy(
  context: ControlWrite,
  workspaceId: string | null,
  draft: PolicyDraft,
): Promise<PolicyRecord> {
  const { transaction } = context;
  const slug = await ruleSlug(transaction, workspaceId);
  await refuseTakenName(transaction, workspaceId, draft.name);
  refuseProblems(await policyProblems(transaction, workspaceId, draft));
  const row = policyRow(context, workspaceId, draft);
  await insertRows(context, policyObject(slug), [row]);
  refuseProblems(await policyCountProblems(transaction));
  return policyRecord(row);
}

export async function updateBudgetPolicy(
  context: ControlWrite,
  workspaceId: string | null,
  id: string,
  change: Partial<PolicyDraft>,
): Promise<PolicyRecord> {
  const { transaction } = context;
  const slug = await ruleSlug(transaction, workspaceId);
  const row = await ownRow(transaction, workspaceId, id);
  refuseFileOwned(row, `budget ${row.name}`);
  const draft = changedPolicy(policyRecord(row), change);
  if (draft.name !== row.name) await refuseTakenName(transaction, workspaceId, draft.name);
  const problems = await policyProblems(transaction, workspaceId, draft, policyRecord(row).budget.fallback);
  refuseProblems(problems);
  const after = policyRow(context, workspaceId, draft, row);
  await updateRow(context, policyObject(slug), { before: row, after });
  return policyRecord(after);
}

export async function removeBudgetPolicy(context: ControlWrite, workspaceId: string | null, id: string): Promise<void> {
  const slug = await ruleSlug(context.transaction, workspaceId);
  const row = await ownRow(context.transaction, workspaceId, id);
  refuseFileDeclared(row, `budget ${row.name}`);
  await removeRows(context, policyObject(slug), [row]);
}

async function ownRow(connection: Connection, workspaceId: string | null, id: string): Promise<PolicyRow> {
  return orNotFound(await findRow(connection, "budget_policies", { id, workspace_id: workspaceId }), "budget");
}

async function refuseTakenName(connection: Connection, workspaceId: string | null, name: string): Promise<void> {
  const row = await findRow(connection, "budget_policies", { workspace_id: workspaceId, name });
  const place = workspaceId === null ? "the installation" : "this workspace";
  refuseExisting(row, `budget ${name} of ${place}`, "name");
}

/**
 * Ids that do not exist, or belong to another workspace; and a fallback model that does not exist. `fallback`: the stored one, which may
 * stay if the model was deleted meanwhile, so that the policy can still be changed.
 */
export async function policyProblems(
  connection: Connection,
  workspaceId: string | null,
  { match = {}, over, enabled, ...window }: PolicyDraft,
  fallback?: string,
): Promise<readonly Problem[]> {
  // A change may give the stored window a member that does not fit.
  const found: Problem[] = windowFaults(window);
  if (workspaceId !== null && match.workspaces !== undefined) {
    found.push({ path: ["match", "workspaces"], message: "can only be set for budgets of the installation" });
  }
  found.push(...(await fallbackProblems(connection, { over }, fallback)));
  // A disabled policy may keep what was deleted meanwhile.
  if (enabled !== false) found.push(...conflictsAt(["match"], await unknownIds(connection, workspaceId, match)));
  return found;
}

/** Call after a write. */
export async function policyCountProblems(connection: Connection): Promise<readonly Problem[]> {
  const rows = await connection
    .selectFrom("budget_policies")
    .select("workspace_id")
    .where("managed_by", "!=", "suspended")
    .execute();
  return ruleCountProblems(rows, "budget policies", budgetPoliciesMax);
}

/**
 * Call before workspaces, groups, keys or users are deleted. Takes their ids out of the policies that name them. A policy that would
 * name nothing else is disabled and keeps the last id, so that it does not count every call if it is enabled again.
 */
export async function leaveBudgetPolicies(context: AuditedWrite, deleted: readonly string[]): Promise<void> {
  const gone = new Set(deleted);
  const { transaction } = context;
  const rows = await findRows(transaction, "budget_policies", {});
  const workspaces = rows.length === 0 ? [] : await findRows(transaction, "workspaces", {});
  const slugs = new Map(workspaces.map(({ id, slug }) => [id, slug]));
  for (const before of rows) {
    const definition = JSON.parse(before.definition) as { match: PolicyMatch };
    const match: Record<string, unknown> = { ...definition.match };
    let isEmpty = false;
    for (const member of namedMembers) {
      const ids = definition.match[member];
      if (ids?.some((id) => gone.has(id)) !== true) continue;
      const rest = ids.filter((id) => !gone.has(id));
      if (rest.length === 0) isEmpty = true;
      else match[member] = rest;
    }
    const after = {
      ...before,
      definition: JSON.stringify({ ...definition, match }),
      enabled: isEmpty ? 0 : before.enabled,
    };
    if (after.definition === before.definition && after.enabled === before.enabled) continue;
    await updateRow(context, policyObject(slugs), { before, after });
  }
}
