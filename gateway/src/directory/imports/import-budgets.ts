import { matchOf } from "../budgets/apply-policies.ts";
import { createBudgetPolicy } from "../budgets/policies.ts";
import { findRow } from "../rows.ts";
import type { Importing } from "./import-records.ts";
import type { ImportedWorkspaces } from "./import-workspaces.ts";

/** Budget policies of the installation. Call it when the keys exist. */
export async function importBudgets(
  { context, draft, earlier, made, skip }: Importing,
  workspaces: ImportedWorkspaces,
): Promise<void> {
  const { transaction } = context;
  for (const budget of draft.budgets) {
    const { name } = budget;
    const object = `budget ${name}`;
    const source = { kind: "budget", source: name } as const;
    if (earlier(source) !== null) continue;
    if ((await findRow(transaction, "budget_policies", { workspace_id: null, name })) !== undefined) {
      skip({ object, reason: "there is already such a budget" });
      continue;
    }
    const { match, problems } = await matchOf(transaction, budget, null, { get: (slug) => workspaces.idOf(slug) });
    const [problem] = problems;
    // Without one of its names it would count other calls.
    if (problem !== undefined) {
      skip({ object, reason: problem.message });
      continue;
    }
    made({ ...source, id: (await createBudgetPolicy(context, null, { ...budget, match })).id });
  }
}
