import {
  BoundedMap,
  type Budget,
  type BudgetIncrease,
  type BudgetWindow,
  bounds,
  bucketStart,
  budgetAmount,
  Failure,
  goesByProvider,
  type LimitScope,
  type NanoUsd,
  nanoToUsd,
  periodEnd,
  periodStart,
  type ReachedLimit,
  type RollingBuckets,
  rollingFrom,
  rollingOf,
  windowName,
} from "#core/index.ts";
import type { Claim, ClaimState, Clock } from "#ports/index.ts";
import { claimKey, type LimitRule, type LimitUsage, type Money, reachedLimit, scopeOf } from "./limit-rule.ts";

export function budgetRules(scope: LimitScope): readonly BudgetRule[] {
  return scope.budget === null ? [] : [new BudgetRule(scope, scope.budget)];
}

export interface CountedBudget {
  readonly scope: Pick<LimitScope, "kind" | "id" | "label" | "counter">;
  readonly window: BudgetWindow;
  readonly key: string;
}

/** The id of the period of a counter that a moment belongs to; see the port. */
export function counterPeriod(window: BudgetWindow, atMs: number): number {
  const rolling = rollingOf(window);
  return rolling === null ? periodStart(window, atMs) : -rolling.windowMs;
}

export class BudgetRule implements LimitRule {
  readonly name = "budget";
  readonly scope: LimitScope;
  readonly isShadow: boolean;
  readonly text: string;
  readonly reached: ReachedLimit;
  readonly #budget: Budget;
  readonly counted: CountedBudget;
  readonly #rolling: RollingBuckets | null;
  /** The current period, or bucket of a rolling window; `#endMs` null: it does not end. */
  #startMs = 0;
  #endMs: number | null = 0;
  #claim: Claim | null = null;
  #claimStartMs = 0;

  constructor(scope: LimitScope, budget: Budget) {
    this.scope = scope;
    this.#budget = budget;
    this.isShadow = budget.enforce === false;
    this.#rolling = rollingOf(budget);
    this.text = `budget of ${usd(budget.nanoUsd)} ${perPeriod(budget)} on ${scope.label}`;
    this.reached = reachedBudget(scope, budget);
    this.counted = { scope, window: budget, key: claimKey(`budget:${windowName(budget)}`, scope.kind, scope.id) };
  }

  get hasFallback(): boolean {
    return this.#budget.fallback !== undefined;
  }

  claim(_tokens: number, money: Money, nowMs: number, model?: string): Claim {
    this.#updatePeriod(nowMs);
    const amount = Math.max(0, Math.ceil(money.most));
    const least = Math.max(0, Math.ceil(money.least));
    const limit = this.limitAt(nowMs, model);
    const last = this.#claim;
    if (
      last?.amount === amount &&
      last.least === least &&
      last.limit === limit &&
      this.#claimStartMs === this.#startMs
    ) {
      return last;
    }
    this.#claimStartMs = this.#startMs;
    const claim: Claim = {
      kind: "budget",
      key: this.counted.key,
      limit,
      amount,
      least,
      windowMs: this.#rolling?.bucketMs ?? 0,
      periodStart: this.#rolling === null ? this.#startMs : -this.#rolling.windowMs,
      fail: this.#budget.fail ?? "closed",
    };
    this.#claim = this.#rolling === null ? claim : { ...claim, rollingFrom: rollingFrom(this.#rolling, nowMs) };
    return this.#claim;
  }

  /** Calls of the fallback model are counted, and never refused. */
  limitAt(nowMs: number, model?: string): number {
    const isFallback = model !== undefined && model === this.#budget.fallback;
    return isFallback ? Number.POSITIVE_INFINITY : budgetAmount(this.#budget, nowMs);
  }

  /** When the oldest bucket that counts at a moment began; undefined: the window does not roll. */
  rollingFromAt(atMs: number): number | undefined {
    return this.#rolling === null ? undefined : rollingFrom(this.#rolling, atMs);
  }

  /** The id of the period that a moment belongs to. */
  periodOf(atMs: number): number {
    if (this.#rolling !== null) return -this.#rolling.windowMs;
    if (atMs < this.#startMs) return periodStart(this.#budget, atMs);
    this.#updatePeriod(atMs);
    return this.#startMs;
  }

  /** When the bucket of a moment began; undefined: the window does not roll. */
  bucketOf(atMs: number): number | undefined {
    return this.#rolling === null ? undefined : bucketStart(this.#rolling, atMs);
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
    const freeMs = this.#freeMs(state);
    const details = {
      limit: nanoToUsd(state.limit),
      used: nanoToUsd(state.used),
      held: nanoToUsd(held),
      scope: `${this.scope.label}, ${perPeriod(this.#budget)}`,
      period: this.#budget.period,
      resets_at: isHeld ? Math.ceil((nowMs + heldRetryMs) / 1_000) : secondsOf(freeMs),
    };
    const { reached } = this;
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
    const later = freeMs === null ? "raise it" : `raise it or wait until ${new Date(freeMs).toISOString()}`;
    return new Failure("budget_exceeded", `${budget} ${what}; ${smaller}${later}.`, { details, reachedLimit: reached });
  }

  limitUsage(state: ClaimState, nowMs: number): LimitUsage {
    this.#updatePeriod(nowMs);
    return {
      name: this.name,
      ...scopeOf(this.scope),
      isShadow: this.isShadow,
      period: this.#budget.period,
      timeZone: this.#budget.timeZone ?? null,
      increase: this.#increase(nowMs),
      isRolling: this.#rolling !== null,
      limit: nanoToUsd(state.limit),
      used: nanoToUsd(state.used),
      held: nanoToUsd(state.held ?? 0),
      resetsAt: secondsOf(this.#freeMs(state)),
    };
  }

  #increase(nowMs: number): BudgetIncrease | null {
    const { increase } = this.#budget;
    return increase !== undefined && nowMs < increase.until ? increase : null;
  }

  /** When the period ends, or enough has left the rolling window; null: never, or unpredictable. Unix milliseconds. */
  #freeMs({ freeInMs }: ClaimState): number | null {
    if (this.#rolling === null) return this.#endMs;
    return freeInMs > 0 ? this.#startMs + freeInMs : null;
  }

  #updatePeriod(nowMs: number): void {
    if (this.#endMs === null || (nowMs >= this.#startMs && nowMs < this.#endMs)) return;
    if (this.#rolling !== null) {
      this.#startMs = bucketStart(this.#rolling, nowMs);
      this.#endMs = this.#startMs + this.#rolling.bucketMs;
      return;
    }
    this.#startMs = periodStart(this.#budget, nowMs);
    this.#endMs = periodEnd(this.#budget, nowMs);
  }
}

function reachedBudget(scope: LimitScope, { fallback }: Budget): ReachedLimit {
  const policy = scope.counter?.policy;
  return {
    ...reachedLimit(scope, "budget"),
    ...(fallback === undefined ? {} : { fallback }),
    ...(policy !== undefined && goesByProvider(policy) ? { isOfProvider: true } : {}),
  };
}

function secondsOf(atMs: number | null): number | null {
  return atMs === null ? null : Math.ceil(atMs / 1_000);
}

/** The end of a call in flight cannot be predicted; most end within seconds. */
const heldRetryMs = 5_000;

/** Whether the call would fit if nothing were held. */
function fitsWithoutHolds({ used, held, limit }: ClaimState, least: NanoUsd): boolean {
  const spent = used - (held ?? 0);
  return spent < limit && spent + least <= limit;
}

function perPeriod({ period, timeZone, rolling }: BudgetWindow): string {
  if (period === "total") return "in total";
  if (rolling === true)
    return { hour: "in 60 minutes", day: "in 24 hours", week: "in 7 days", month: "in 30 days" }[period];
  return timeZone === undefined ? `per ${period}` : `per ${period} (${timeZone})`;
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
