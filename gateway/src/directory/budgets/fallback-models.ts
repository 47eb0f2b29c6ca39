import type { BudgetConfig } from "@sluice/contract/config-file";
import type { Connection } from "#storage/tables.ts";
import type { Problem } from "../refusals.ts";
import { findRow, not } from "../rows.ts";

/** A fallback model must exist. */
export async function fallbackProblems(
  connection: Connection,
  { over }: Pick<BudgetConfig, "over">,
): Promise<readonly Problem[]> {
  if (typeof over !== "object") return [];
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
  if (budget == null || typeof budget.over !== "object") return [];
  const stored: { readonly fallback?: string } = JSON.parse(before.budget ?? "{}");
  if (stored.fallback === budget.over.fallback) return [];
  const problems = await fallbackProblems(connection, budget);
  return problems.map(({ path, message }) => ({ path: ["budget", ...path], message }));
}
