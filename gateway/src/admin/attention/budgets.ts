import { type BudgetPolicy, coversWorkspace } from "#core/index.ts";
import type { ScopeLimitUsage } from "#limits/index.ts";
import {
  atRiskShare,
  isExhausted,
  limitScopes,
  limitScopesOfPerson,
  publicScopeId,
  usedShare,
} from "../budgets/limit-scopes.ts";
import { policyUsages } from "../budgets/policy-view.ts";
import { type Check, type Finding, placeOf } from "./finding.ts";

/** Budgets that refuse calls, and budgets that soon may. Rates are left out, because they are free again within a minute. */
export const checkBudgets: Check = async (scope, dependencies) => {
  const [objects, policies] = await Promise.all([
    objectFindings(scope, dependencies),
    policyFindings(scope, dependencies),
  ]);
  return [...objects, ...policies];
};

const objectFindings: Check = async ({ workspace, person }, dependencies) => {
  const snapshot = dependencies.configSnapshot();
  const { scopes, workspaceIds } =
    person === null
      ? await limitScopes({ workspace }, snapshot, dependencies)
      : await limitScopesOfPerson({ workspace, person }, snapshot, dependencies);
  const budgets = scopes
    .filter(({ budget }) => budget !== null && budget.enforce !== false)
    .map((scope) => ({ ...scope, limits: {} }));
  const fallbacks = new Map(budgets.map(({ id, budget }) => [id, budget?.fallback]));
  const usages = (await dependencies.admission.limitUsages(budgets)).filter(isListed);
  return usages.flatMap((usage) => {
    const home = snapshot.workspaces.get(workspaceIds.get(usage.scopeId) ?? "");
    const name = usage.label.slice(usage.scope.length + 1);
    const subject = { kind: usage.scope, id: publicScopeId(usage), name };
    return home === undefined ? [] : findingOf(usage, subject, placeOf(home), fallbacks.get(usage.scopeId));
  });
};

/** Policies count the calls of many people, so members and viewers do not get them. */
const policyFindings: Check = async ({ workspace, person, actor }, dependencies) => {
  if (person !== null) return [];
  const { budgetPolicies, groups, workspaces } = dependencies.configSnapshot();
  const isVisible = (policy: BudgetPolicy) => {
    if (workspace === null || policy.workspaceId === workspace.id) return true;
    // The amounts of other workspaces are visible to administrators.
    return policy.workspaceId === null && actor.administrator && coversWorkspace(policy, workspace.id, groups);
  };
  const found: Finding[] = [];
  for (const policy of budgetPolicies) {
    if (policy.budget.enforce === false || !isVisible(policy)) continue;
    const home = workspaces.get(policy.workspaceId ?? "");
    for (const { usage, name } of await policyUsages(dependencies, policy, isListed)) {
      const subject = { kind: "policy", id: policy.id, name } as const;
      found.push(findingOf(usage, subject, home === undefined ? null : placeOf(home), policy.budget.fallback));
    }
  }
  return found;
};

function isListed(usage: ScopeLimitUsage): boolean {
  return isExhausted(usage) || usedShare(usage) >= atRiskShare;
}

function findingOf(
  usage: ScopeLimitUsage,
  subject: Finding["subject"],
  workspace: Finding["workspace"],
  model: string | undefined,
): Finding {
  const { used, limit, period } = usage;
  const share = usedShare(usage);
  const about = { workspace, subject, weight: share };
  const params = { name: subject.name, used: rounded(used ?? 0), limit, period: period ?? "total" };
  if (!isExhausted(usage)) {
    const percent = Math.floor(share * 100);
    return { ...about, severity: "warning", code: "budget_near", params: { ...params, percent } };
  }
  if (model !== undefined) {
    return { ...about, severity: "warning", code: "budget_falls_back", params: { ...params, model } };
  }
  return { ...about, severity: "critical", code: share < 1 ? "budget_refusing" : "budget_exhausted", params };
}

/** Six digits, for a sentence. */
function rounded(usd: number): number {
  return Number(usd.toPrecision(6));
}
