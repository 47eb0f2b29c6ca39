import {
  BoundedMap,
  type BudgetPolicy,
  coversCost,
  noPolicyValue,
  type PolicyCall,
  type PolicyCost,
  type PolicyCounter,
  type PolicyScope,
  type Principal,
  policyCaller,
  policyScope,
  policyScopeId,
  policyValue,
  tagOf,
  WindowCounts,
} from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { BudgetRule } from "./budget.ts";

/** Values of a tag that a workspace may add to a policy in an hour; as many as the ledger sums separately. */
const newTagValuesMax = 100;
const newTagValuesMs = 3_600_000;
/** Counters of all policies in memory. One that is dropped is made again. */
const policyCountersMax = 20_000;
/** Pairs of a policy and a workspace. */
const tagSourcesMax = 10_000;

/** Counts calls with further values of a tag together, as the ledger sums them. */
export const otherTagValues = "(other)";

/** The counters of budget policies: one for each policy, or for each value that it is split by. */
export class PolicyCounters {
  /** By the ids of their scopes. */
  readonly #rules = new BoundedMap<string, BudgetRule>(policyCountersMax);
  readonly #newValues: WindowCounts;

  constructor(clock: Clock) {
    this.#newValues = new WindowCounts({
      max: newTagValuesMax,
      windowMs: newTagValuesMs,
      keysMax: tagSourcesMax,
      clock,
    });
  }

  /** The rule for a call, or for an attempt at a provider. */
  ruleOf(policy: BudgetPolicy, principal: Principal, call: PolicyCall & { readonly provider?: string }): BudgetRule {
    const cost = { ...policyCaller(principal), provider: "", ...call };
    const value = this.#valueOf(policy, cost, true);
    const found = this.#rules.get(policyScopeId({ policy, value }));
    if (found?.scope.counter?.policy === policy) return found;
    return this.ruleOfScope(callersScope({ policy, value }, principal));
  }

  /** The rule of a counter that is read without a call. */
  ruleOfScope(scope: PolicyScope): BudgetRule {
    const found = this.#rules.get(scope.id);
    if (found?.scope.counter?.policy === scope.counter.policy) return found;
    const rule = new BudgetRule(scope, scope.counter.policy.budget);
    this.#rules.set(scope.id, rule);
    return rule;
  }

  /** The counters of split policies that this process used most recently. */
  recentScopes(max: number): readonly PolicyScope[] {
    const scopes = [];
    for (const { scope } of this.#rules.values()) {
      const { counter } = scope;
      if (counter !== undefined && counter.value !== null) scopes.push({ ...scope, counter });
    }
    return scopes.slice(-max);
  }

  /** The value that the entry counts for; undefined: the policy does not cover it. */
  counterValue(policy: BudgetPolicy, cost: PolicyCost): string | null | undefined {
    return coversCost(policy, cost) ? this.#valueOf(policy, cost, false) : undefined;
  }

  #valueOf(policy: BudgetPolicy, cost: PolicyCost, isNew: boolean): string | null {
    const value = policyValue(policy, cost);
    if (value === null || value === noPolicyValue || tagOf(policy.splitBy) === null) return value;
    if (this.#rules.get(policyScopeId({ policy, value })) !== undefined) return value;
    if (!isNew) return otherTagValues;
    return this.#newValues.take(`${policy.id} ${cost.workspaceId}`) === 0 ? value : otherTagValues;
  }
}

/** The counter of a policy that a caller's calls count for. Its label has the names of keys, groups and workspaces. */
export function callersScope(
  counter: PolicyCounter,
  { key, group, workspace }: Pick<Principal, "key" | "group" | "workspace">,
): PolicyScope {
  const { splitBy } = counter.policy;
  if (splitBy === "key") return policyScope(counter, `${workspace.slug}/${key.name}`);
  if (splitBy === "group") return policyScope(counter, `${workspace.slug}/${group.name}`);
  return splitBy === "workspace" ? policyScope(counter, workspace.slug) : policyScope(counter);
}
