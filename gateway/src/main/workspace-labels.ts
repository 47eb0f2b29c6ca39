import type { ConfigSnapshot } from "#core/index.ts";
import type { Admission } from "#limits/index.ts";
import type { BudgetShare, WorkspaceLabels } from "#telemetry/index.ts";

/** Undefined where nothing is counted by workspace. */
export function workspaceLabels(max: number, configSnapshot: () => ConfigSnapshot | null): WorkspaceLabels | undefined {
  return max === 0 ? undefined : { max, slugOf: (id) => configSnapshot()?.workspaces.get(id)?.slug ?? null };
}

/** How far the budgets of at most `max` workspaces are used. One whose spending cannot be read now is left out. */
export async function budgetShares(
  { workspaces }: Pick<ConfigSnapshot, "workspaces">,
  admission: Pick<Admission, "limitUsages">,
  max: number,
): Promise<readonly BudgetShare[]> {
  const budgeted = [...workspaces.values()].filter(({ scope }) => scope.budget !== null).slice(0, max);
  const usages = await admission.limitUsages(budgeted.map(({ scope }) => ({ ...scope, limits: {} })));
  const slugs = new Map(budgeted.map(({ scope, slug }) => [scope.id, slug]));
  return usages.flatMap(({ scopeId, used, limit }) => {
    const workspace = slugs.get(scopeId);
    return workspace === undefined || used === null ? [] : [{ workspace, share: limit > 0 ? used / limit : 1 }];
  });
}
