import { type BudgetPolicy, type ConfigSnapshot, coversWorkspace } from "#core/index.ts";
import { isExhausted, type ScopeLimitUsage } from "#limits/index.ts";
import { atRiskShare, limitScopes, limitScopesOfPerson, publicScopeId, usedShare } from "../budgets/limit-scopes.ts";
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
  const isMissing = (usage: ScopeLimitUsage) => missesFallback(fallbacks.get(usage.scopeId), snapshot);
  const usages = await dependencies.admission.limitUsages(budgets);
  return usages.flatMap((usage) => {
    if (!isListed(usage) && !isMissing(usage)) return [];
    const home = snapshot.workspaces.get(workspaceIds.get(usage.scopeId) ?? "");
    const name = usage.label.slice(usage.scope.length + 1);
    const subject = { kind: usage.scope, id: publicScopeId(usage), name };
    const model = fallbacks.get(usage.scopeId);
    if (home === undefined) return [];
    if (isMissing(usage)) return missingFallback(subject, placeOf(home), model, isExhausted(usage));
    return findingOf(usage, subject, placeOf(home), model);
  });
};

/** Policies count the calls of many people, so members and viewers do not get them. */
const policyFindings: Check = async ({ workspace, person, actor }, dependencies) => {
  if (person !== null) return [];
  const snapshot = dependencies.configSnapshot();
  const { budgetPolicies, groups, workspaces } = snapshot;
  const isVisible = (policy: BudgetPolicy) => {
    if (workspace === null || policy.workspaceId === workspace.id) return true;
    // The amounts of other workspaces are visible to administrators.
    return policy.workspaceId === null && actor.administrator && coversWorkspace(policy, workspace.id, groups);
  };
  const found: Finding[] = [];
  for (const policy of budgetPolicies) {
    if (policy.budget.enforce === false || !isVisible(policy)) continue;
    const home = workspaces.get(policy.workspaceId ?? "");
    const place = home === undefined ? null : placeOf(home);
    const { fallback } = policy.budget;
    const usages = await policyUsages(dependencies, policy, isListed);
    const isMissing = missesFallback(fallback, snapshot);
    if (isMissing) {
      const isRefusing = usages.some(({ usage }) => isExhausted(usage));
      found.push(missingFallback({ kind: "policy", id: policy.id, name: policy.name }, place, fallback, isRefusing));
    }
    for (const { usage, name } of isMissing ? [] : usages) {
      found.push(findingOf(usage, { kind: "policy", id: policy.id, name }, place, fallback));
    }
  }
  return found;
};

function isListed(usage: ScopeLimitUsage): boolean {
  return isExhausted(usage) || usedShare(usage) >= atRiskShare;
}

/** The fallback model was deleted, so the budget refuses calls that do not fit. */
function missesFallback(fallback: string | undefined, { models }: Pick<ConfigSnapshot, "models">): boolean {
  return fallback !== undefined && !models.has(fallback);
}

function missingFallback(
  subject: Finding["subject"],
  workspace: Finding["workspace"],
  model = "",
  isRefusing = false,
): Finding {
  const severity = isRefusing ? "critical" : "warning";
  const params = { name: subject.name, model };
  return { workspace, subject, weight: 1, severity, code: "budget_fallback_missing", params };
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
