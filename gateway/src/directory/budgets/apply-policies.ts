import type { BudgetPolicyConfig, ConfigFile } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { type Connection, suspendRows } from "#storage/tables.ts";
import { conflictsAt, refuseConflicts } from "../refusals.ts";
import { applyRows, findRows } from "../rows.ts";
import { fullRuleName, idsOfNames } from "../scoped-rules.ts";
import type { ControlWrite } from "../store.ts";
import { policyCountProblems, policyProblems } from "./policies.ts";
import { type PolicyDraft, policyObject, policyRow } from "./policy-rows.ts";

/** Creates, updates and suspends the budget policies of the file. Call it after applying the people. */
export async function applyBudgetPolicies(context: ControlWrite, config: ConfigFile): Promise<void> {
  const { transaction } = context;
  const slugs = new Map((await findRows(transaction, "workspaces", {})).map(({ id, slug }) => [id, slug]));
  const ids = new Map([...slugs].map(([id, slug]) => [slug, id]));
  const existing = await findRows(transaction, "budget_policies", {});
  const before = new Map(existing.map((row) => [fullRuleName(row), row]));
  const conflicts: Conflict[] = [];
  const rowOf = async (workspaceId: string | null, declared: BudgetPolicyConfig, path: Conflict["path"]) => {
    const { match, problems } = await matchOf(transaction, declared, workspaceId, ids);
    const draft: PolicyDraft = { ...declared, match };
    const others = await policyProblems(transaction, workspaceId, { ...draft, enabled: false });
    conflicts.push(...conflictsAt(path, [...problems, ...others]));
    return policyRow(context, workspaceId, draft, before.get(fullRuleName({ workspace_id: workspaceId, ...declared })));
  };
  const wanted = [];
  for (const [index, declared] of (config.budgets ?? []).entries()) {
    wanted.push(await rowOf(null, declared, ["budgets", index]));
  }
  for (const [index, { slug, budgets = [] }] of (config.workspaces ?? []).entries()) {
    for (const [at, declared] of budgets.entries()) {
      wanted.push(await rowOf(ids.get(slug) ?? "", declared, ["workspaces", index, "budgets", at]));
    }
  }
  refuseConflicts(conflicts);
  const { vanished } = await applyRows(context, policyObject(slugs), existing, wanted, fullRuleName);
  await suspendRows(context, policyObject(slugs), vanished);
  refuseConflicts(conflictsAt(["budgets"], await policyCountProblems(transaction)));
}

/** The ids of the names in `match`. A policy of the installation names groups and keys as `acme/ci`. */
export async function matchOf(
  connection: Connection,
  { match = {} }: BudgetPolicyConfig,
  workspaceId: string | null,
  workspaceIds: { get(slug: string): string | undefined },
) {
  const { ids, problems } = await idsOfNames(connection, match, workspaceId, workspaceIds);
  return { match: { ...match, ...ids }, problems: conflictsAt(["match"], problems) };
}
