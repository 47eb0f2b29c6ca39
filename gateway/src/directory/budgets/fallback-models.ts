import type { BudgetConfig } from "@sluice/contract/config-file";
import type { Connection } from "#storage/tables.ts";
import type { Problem } from "../refusals.ts";
import { findRow, not } from "../rows.ts";

/** A fallback model must exist. `stored`: the one before a change, which may stay. */
export async function fallbackProblems(
  connection: Connection,
  { over }: Pick<BudgetConfig, "over">,
  stored?: string,
): Promise<readonly Problem[]> {
  if (typeof over !== "object" || over.fallback === stored) return [];
  const model = await findRow(connection, "models", { name: over.fallback, managed_by: not("suspended") });
  return model === undefined ? [{ path: ["over", "fallback"], message: `there is no model "${over.fallback}"` }] : [];
}

/**
 * The same for the budget of a workspace, group, key or person. `before`: its stored budget. The same fallback may stay, also if the model
 * was deleted, so that the amount can still be changed.
 */
export async function budgetProblems(
  connection: Connection,
  budget: BudgetConfig | null | undefined,
  before: { readonly budget: string | null } = { budget: null },
): Promise<readonly Problem[]> {
  if (budget == null) return [];
  const stored: { readonly fallback?: string } = JSON.parse(before.budget ?? "{}");
  const problems = await fallbackProblems(connection, budget, stored.fallback);
  return problems.map(({ path, message }) => ({ path: ["budget", ...path], message }));
}
