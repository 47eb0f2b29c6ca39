import type { ScopeLimitUsage } from "#limits/index.ts";
import {
  atRiskShare,
  isExhausted,
  limitScopes,
  limitScopesOfPerson,
  publicScopeId,
  usedShare,
} from "../budgets/limit-scopes.ts";
import { type Check, type Finding, placeOf } from "./finding.ts";

/** Budgets that refuse calls, and budgets that soon may. Rates are left out, because they are free again within a minute. */
export const checkBudgets: Check = async ({ workspace, person }, dependencies) => {
  const snapshot = dependencies.configSnapshot();
  const { scopes, workspaceIds } =
    person === null
      ? await limitScopes({ workspace }, snapshot, dependencies)
      : await limitScopesOfPerson({ workspace, person }, snapshot, dependencies);
  const budgets = scopes
    .filter(({ budget }) => budget !== null && budget.enforce !== false)
    .map((scope) => ({ ...scope, limits: {} }));
  const usages = await dependencies.admission.limitUsages(budgets);
  return usages.flatMap((usage) => {
    const home = snapshot.workspaces.get(workspaceIds.get(usage.scopeId) ?? "");
    return home === undefined ? [] : findingOf(usage, placeOf(home));
  });
};

function findingOf(usage: ScopeLimitUsage, workspace: Finding["workspace"]): Finding[] {
  const { scope, label, used, limit, period } = usage;
  const share = usedShare(usage);
  const name = label.slice(scope.length + 1);
  const subject = { kind: scope, id: publicScopeId(usage), name };
  const about = { workspace, subject, weight: share };
  const params = { name, used: rounded(used ?? 0), limit, period: period ?? "total" };
  if (isExhausted(usage)) {
    const code = share < 1 ? "budget_refusing" : "budget_exhausted";
    return [{ ...about, severity: "critical", code, params }];
  }
  if (share < atRiskShare) return [];
  return [
    { ...about, severity: "warning", code: "budget_near", params: { ...params, percent: Math.floor(share * 100) } },
  ];
}

/** Six digits, for a sentence. */
function rounded(usd: number): number {
  return Number(usd.toPrecision(6));
}
