import { BoundedMap, type Budget, bounds, Failure, type LimitScope, type NanoUsd, nanoToUsd } from "#core/index.ts";
import type { Claim, ClaimState, Clock } from "#ports/index.ts";
import { claimKey, type LimitRule, type LimitUsage, type Money, reachedLimit, scopeOf } from "./limit-rule.ts";
import { periodEnd, periodStart } from "./period.ts";

export function budgetRules(scope: LimitScope): readonly BudgetRule[] {
  return scope.budget === null ? [] : [new BudgetRule(scope, scope.budget)];
}

export interface CountedBudget {
  readonly scope: Pick<LimitScope, "kind" | "id" | "label">;
  readonly period: Budget["period"];
  readonly key: string;
}

export class BudgetRule implements LimitRule {
  readonly name = "budget";
  readonly scope: LimitScope;
  readonly isShadow: boolean;
  readonly text: string;
  readonly #budget: Budget;
  readonly counted: CountedBudget;
  /** The current period; `#endMs` null: it does not end. */
  #startMs = 0;
  #endMs: number | null = 0;
  #claim: Claim | null = null;

  constructor(scope: LimitScope, budget: Budget) {
    this.scope = scope;
    this.#budget = budget;
    this.isShadow = budget.enforce === false;
    this.text = `budget of ${usd(budget.nanoUsd)} ${perPeriod(budget.period)} on ${scope.label}`;
    this.counted = { scope, period: budget.period, key: claimKey(`budget:${budget.period}`, scope.kind, scope.id) };
  }

  claim(_tokens: number, money: Money, nowMs: number): Claim {
    this.#updatePeriod(nowMs);
    const amount = Math.max(0, Math.ceil(money.most));
    const least = Math.max(0, Math.ceil(money.least));
    const last = this.#claim;
    if (last?.amount === amount && last.least === least && last.periodStart === this.#startMs) return last;
    this.#claim = {
      kind: "budget",
      key: this.counted.key,
      limit: this.#budget.nanoUsd,
      amount,
      least,
      windowMs: 0,
      periodStart: this.#startMs,
      fail: this.#budget.fail ?? "closed",
    };
    return this.#claim;
  }

  /** Spending is counted by the entries in the ledger. */
  actual(): number {
    return 0;
  }

  /** 402 if too little is unspent; 429 if the call would fit once calls in flight have ended. */
  refusal(state: ClaimState, { most, least }: Money, nowMs: number): Failure {
    this.#updatePeriod(nowMs);
    const held = state.held ?? 0;
    const unspent = state.limit - state.used + held;
    const isHeld = fitsWithoutHolds(state, least);
    const details = {
      limit: nanoToUsd(state.limit),
      used: nanoToUsd(state.used),
      held: nanoToUsd(held),
      scope: `${this.scope.label}, ${perPeriod(this.#budget.period)}`,
      period: this.#budget.period,
      resets_at: isHeld ? Math.ceil((nowMs + heldRetryMs) / 1_000) : this.#resetsAt(),
    };
    const reached = reachedLimit(this.scope, this.name);
    const budget = `The ${this.text}`;
    if (isHeld) {
      const message = `${budget} has ${usd(unspent)} left, of which ${usd(held)} is held for calls in flight; try again in ${heldRetryMs / 1_000} s.`;
      return new Failure("budget_held", message, { retryAfterMs: heldRetryMs, details, reachedLimit: reached });
    }
    const left = Math.max(0, unspent);
    const needs =
      least < most ? `needs at least ${usd(least)} to begin` : `may cost ${usd(most)}, which is held until it ends`;
    const what = left === 0 ? "is used up" : `has ${usd(left)} left and this call ${needs}`;
    const smaller = left === 0 ? "" : "ask for less output, ";
    const later = this.#endMs === null ? "raise it" : `raise it or wait until ${new Date(this.#endMs).toISOString()}`;
    return new Failure("budget_exceeded", `${budget} ${what}; ${smaller}${later}.`, { details, reachedLimit: reached });
  }

  limitUsage(state: ClaimState, nowMs: number): LimitUsage {
    this.#updatePeriod(nowMs);
    return {
      name: this.name,
      ...scopeOf(this.scope),
      isShadow: this.isShadow,
      period: this.#budget.period,
      limit: nanoToUsd(state.limit),
      used: nanoToUsd(state.used),
      held: nanoToUsd(state.held ?? 0),
      resetsAt: this.#resetsAt(),
    };
  }

  #resetsAt(): number | null {
    return this.#endMs === null ? null : Math.ceil(this.#endMs / 1_000);
  }

  #updatePeriod(nowMs: number): void {
    if (this.#endMs === null || (nowMs >= this.#startMs && nowMs < this.#endMs)) return;
    this.#startMs = periodStart(this.#budget.period, nowMs);
    this.#endMs = periodEnd(this.#budget.period, nowMs);
  }
}

/** The end of a call in flight cannot be predicted; most end within seconds. */
const heldRetryMs = 5_000;

/** Whether the call would fit if nothing were held. */
function fitsWithoutHolds({ used, held, limit }: ClaimState, least: NanoUsd): boolean {
  const spent = used - (held ?? 0);
  return spent < limit && spent + least <= limit;
}

function perPeriod(period: Budget["period"]): string {
  return period === "total" ? "in total" : `per ${period}`;
}

function usd(nanoUsd: NanoUsd): string {
  const amount = nanoToUsd(nanoUsd);
  return `${Number(amount.toPrecision(6))} USD`;
}

/**
 * Budgets that refused a call recently: such a budget may have money left, and still too little. Shown with the usage of limits; it
 * decides nothing.
 */
export class RefusedBudgets {
  /** The last refused call, by the key of its claim. */
  readonly #calls: BoundedMap<string, Pick<Claim, "least" | "periodStart"> & { readonly at: number }>;

  constructor(clock: Clock) {
    this.#calls = new BoundedMap(bounds.budgetsRefusedMax, { life: { clock, ms: bounds.budgetRefusedMs } });
  }

  note(claim: Claim, nowMs: number): void {
    this.#calls.set(claim.key, { at: nowMs, least: claim.least, periodStart: claim.periodStart });
  }

  /** When the budget last refused a call (Unix milliseconds) that it would refuse now too; null: not recently. */
  latest(claim: Claim, state: ClaimState): number | null {
    const call = claim.kind === "budget" ? this.#calls.get(claim.key) : undefined;
    if (call === undefined || call.periodStart !== claim.periodStart) return null;
    return fitsWithoutHolds(state, call.least) ? null : call.at;
  }
}
