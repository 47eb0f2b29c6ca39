import {
  type BudgetPolicy,
  coversAttempt,
  coversTags,
  followsAttempts,
  goesByProvider,
  goesByTags,
  type LimitScope,
  type NanoUsd,
  oncePerObject,
  type PolicyCall,
  type Principal,
} from "#core/index.ts";
import type { Claim, Clock } from "#ports/index.ts";
import { BudgetRule, budgetRules } from "./budget.ts";
import type { Estimate, LimitRule } from "./limit-rule.ts";
import { PolicyCounters } from "./policy-counters.ts";
import { rateRules } from "./rates.ts";

/** An attempt at a deployment. */
export interface AttemptPlace extends PolicyCall {
  readonly provider: string;
}

/** A call that perhaps has no provider yet. */
export type HeldCall = PolicyCall & { readonly provider?: string | undefined };

export interface CallRules {
  /** The first refusal is returned to the caller, so the longest waits come first. */
  readonly all: readonly LimitRule[];
  readonly budgets: readonly BudgetRule[];
  /** A budget names a model that may serve the call instead. */
  readonly hasFallback: boolean;
  readonly rates: readonly LimitRule[];
  /** Not among the others. */
  readonly shadow: readonly LimitRule[];
}

/** The limits of every call of a caller, and the policies that apply to some. */
interface CallerRules extends CallRules {
  readonly byTags: readonly BudgetPolicy[];
  readonly byAttempt: readonly BudgetPolicy[];
}

/** The limits of calls: of their caller's objects, and budget policies. */
export class CallRuleSets {
  readonly policies: PolicyCounters;
  readonly ofScope = oncePerObject((scope: LimitScope): readonly LimitRule[] => {
    const { counter } = scope;
    if (counter !== undefined) return [this.policies.ruleOfScope({ ...scope, counter })];
    return [...budgetRules(scope), ...rateRules(scope)];
  });
  readonly of = oncePerObject((principal: Principal): CallerRules => {
    const { scopes, policies = [] } = principal;
    const byCaller = policies.filter((policy) => !followsAttempts(policy) && !goesByTags(policy));
    return {
      ...callRules([
        ...byCaller.map((policy) => this.policies.ruleOf(policy, principal, noCall)),
        ...scopes.flatMap((scope) => this.ofScope(scope)),
      ]),
      byTags: policies.filter((policy) => !followsAttempts(policy) && goesByTags(policy)),
      byAttempt: policies.filter(followsAttempts),
    };
  });

  constructor(clock: Clock) {
    this.policies = new PolicyCounters(clock);
  }

  /** With policies by tags. */
  ofCall(principal: Principal, estimate: Pick<Estimate, "call">): CallRules {
    const caller = this.of(principal);
    if (caller.byTags.length === 0) return caller;
    const { call } = estimate;
    if (call === undefined) return caller;
    const covering = caller.byTags.filter((policy) => coversTags(policy, call.tags));
    return this.#withPolicies(caller, covering, principal, call);
  }

  /** Only the policies that depend on the attempt; null: none applies. */
  ofAttempt(principal: Principal, place: AttemptPlace): CallRules | null {
    const covering = this.of(principal).byAttempt.filter((policy) => coversAttempt(policy, place));
    return covering.length === 0 ? null : this.#withPolicies(noRules, covering, principal, place);
  }

  /** The budgets that hold the money of a task. `call` absent: for rows of a batch, which may differ. */
  heldBy(principal: Principal, call: HeldCall | undefined): readonly BudgetRule[] {
    if (call === undefined) return this.of(principal).budgets;
    const rules = this.ofCall(principal, { call });
    const { model, tags, provider } = call;
    const place = { model, tags, provider: provider ?? "" };
    const covering = this.of(principal).byAttempt.filter(
      (policy) => (provider !== undefined || !goesByProvider(policy)) && coversAttempt(policy, place),
    );
    return this.#withPolicies(rules, covering, principal, place).budgets;
  }

  /** The budgets of the policies that depend on the provider. */
  ofProvider(principal: Principal, place: AttemptPlace): readonly BudgetRule[] {
    const covering = this.of(principal).byAttempt.filter(
      (policy) => goesByProvider(policy) && coversAttempt(policy, place),
    );
    return this.#withPolicies(noRules, covering, principal, place).budgets;
  }

  #withPolicies(
    rules: CallRules,
    policies: readonly BudgetPolicy[],
    principal: Principal,
    call: PolicyCall & { readonly provider?: string },
  ): CallRules {
    if (policies.length === 0) return rules;
    const more = policies.map((policy) => this.policies.ruleOf(policy, principal, call));
    return callRules([...more, ...rules.all, ...rules.shadow]);
  }
}

/** The hold of a task that was admitted before a restart, as claims without a limit. `place`: of `holdAt`, in place of `hold`. */
export function heldClaims(
  principal: Principal,
  nanoUsd: NanoUsd,
  clock: Clock,
  { call, place }: { readonly call?: HeldCall | undefined; readonly place?: AttemptPlace },
): readonly Claim[] {
  const money = { most: nanoUsd, least: nanoUsd };
  const nowMs = clock.now();
  const sets = new CallRuleSets(clock);
  const rules = place === undefined ? sets.heldBy(principal, call) : sets.ofProvider(principal, place);
  return rules.map((rule) => ({ ...rule.claim(0, money, nowMs), limit: Number.POSITIVE_INFINITY }));
}

function callRules(rules: readonly LimitRule[]): CallRules {
  const all = rules.filter(({ isShadow }) => !isShadow);
  const budgets = all.filter((rule) => rule instanceof BudgetRule);
  const rates = all.filter((rule) => !(rule instanceof BudgetRule));
  const hasFallback = budgets.some((rule) => rule.hasFallback);
  return { all, budgets, hasFallback, rates, shadow: rules.filter(({ isShadow }) => isShadow) };
}

const noRules = callRules([]);
const noCall: PolicyCall = { model: "", tags: {} };
