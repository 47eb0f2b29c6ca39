import type { BudgetPolicyConfig, ConfigFile } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { type Connection, suspendRows } from "#storage/tables.ts";
import { conflictsAt, refuseConflicts } from "../refusals.ts";
import { applyRows, findRow, findRows } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { policyCountProblems, policyProblems } from "./policies.ts";
import { namedMembers, type PolicyDraft, policyObject, policyRow } from "./policy-rows.ts";

/** Creates, updates and suspends the budget policies of the file. Call it after applying the people. */
export async function applyBudgetPolicies(context: ControlWrite, config: ConfigFile): Promise<void> {
  const { transaction } = context;
  const slugs = new Map((await findRows(transaction, "workspaces", {})).map(({ id, slug }) => [id, slug]));
  const ids = new Map([...slugs].map(([id, slug]) => [slug, id]));
  const existing = await findRows(transaction, "budget_policies", {});
  const nameOf = (row: { readonly workspace_id: string | null; readonly name: string }) =>
    `${row.workspace_id ?? ""}/${row.name}`;
  const before = new Map(existing.map((row) => [nameOf(row), row]));
  const conflicts: Conflict[] = [];
  const rowOf = async (workspaceId: string | null, declared: BudgetPolicyConfig, path: Conflict["path"]) => {
    const { match, problems } = await matchOf(transaction, declared, workspaceId, ids);
    const draft: PolicyDraft = { ...declared, match };
    const others = await policyProblems(transaction, workspaceId, { ...draft, enabled: false });
    conflicts.push(...conflictsAt(path, [...problems, ...others]));
    return policyRow(context, workspaceId, draft, before.get(nameOf({ workspace_id: workspaceId, ...declared })));
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
  const { vanished } = await applyRows(context, policyObject(slugs), existing, wanted, nameOf);
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
  const problems: { readonly path: Conflict["path"]; readonly message: string }[] = [];
  const resolved: Partial<Record<(typeof namedMembers)[number], string[]>> = {};
  for (const member of namedMembers) {
    for (const [index, text] of (match[member] ?? []).entries()) {
      const id = await idOf(connection, member, text, workspaceId, workspaceIds);
      const word = member === "people" ? "user" : member.slice(0, -1);
      if (id === undefined) problems.push({ path: ["match", member, index], message: `there is no ${word} "${text}"` });
      else resolved[member] = [...(resolved[member] ?? []), id];
    }
  }
  return { match: { ...match, ...resolved }, problems };
}

async function idOf(
  connection: Connection,
  member: (typeof namedMembers)[number],
  text: string,
  workspaceId: string | null,
  workspaceIds: { get(slug: string): string | undefined },
): Promise<string | undefined> {
  if (member === "workspaces") return workspaceIds.get(text);
  if (member === "people") return (await findRow(connection, "auth_users", { email: text.toLowerCase() }))?.id;
  const slash = text.indexOf("/");
  const home = workspaceId ?? workspaceIds.get(text.slice(0, slash)) ?? "";
  const place = { workspace_id: home, name: workspaceId === null ? text.slice(slash + 1) : text };
  return (await findRow(connection, member === "groups" ? "groups" : "api_keys", place))?.id;
}
