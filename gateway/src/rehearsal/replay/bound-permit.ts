import type { Budget, Gauge, Window } from "#coordination/index.ts";
import type { BudgetRule, Money, RateRule } from "#limits/index.ts";
import type { Claim } from "#ports/index.ts";
import type { ReplayClock } from "./replay-clock.ts";

/** The limits of a caller with their counters. */
export interface CallerLimits {
  /** In the order in which they refuse. */
  readonly all: readonly BoundLimit[];
  readonly rates: readonly BoundLimit[];
  readonly budgets: readonly BudgetLimit[];
  readonly hasFallback: boolean;
}

export type BoundLimit = WindowLimit | GaugeLimit | BudgetLimit;

/** A place in every limit of a past call, until it ends. */
export class BoundPermit {
  readonly #limits: readonly BoundLimit[];
  readonly #clock: ReplayClock;
  readonly atMs: number;
  readonly tokens: number;
  readonly model: string | undefined;
  /** Of its budgets, in the order of the limits. */
  readonly #claims: Claim[] = [];
  /** Money held in each budget; Infinity if there is none. */
  held = Number.POSITIVE_INFINITY;

  constructor(limits: readonly BoundLimit[], clock: ReplayClock, tokens: number, model: string | undefined) {
    this.#limits = limits;
    this.#clock = clock;
    this.atMs = clock.now();
    this.tokens = tokens;
    this.model = model;
  }

  /** Takes a place in all limits, at most `moneyMax` in each budget. Returns the limit that refuses; then nothing is taken. */
  take(money: Money, moneyMax: number): BoundLimit | null {
    const limits = this.#limits;
    for (let index = 0; index < limits.length; index++) {
      const limit = limits[index] as BoundLimit;
      if (limit instanceof BudgetLimit) {
        const claim = limit.rule.claim(0, money, this.atMs, this.model);
        const amount = Math.min(claim.amount, moneyMax);
        if (limit.budget.hold(claim, this.atMs, amount)) {
          this.held = amount;
          this.#claims.push(claim);
          continue;
        }
      } else if (limit.take(this)) continue;
      this.#giveBack(index);
      return limit;
    }
    return null;
  }

  /** The smallest amount that is left in its budgets. */
  room(money: Money): number {
    let room = Number.POSITIVE_INFINITY;
    for (const limit of this.#limits) {
      if (!(limit instanceof BudgetLimit)) continue;
      const claim = limit.rule.claim(0, money, this.atMs, this.model);
      if (claim.limit !== Number.POSITIVE_INFINITY) room = Math.min(room, limit.budget.room(claim));
    }
    return room;
  }

  /** Holds up to `amount` more, and at least `least`. Returns how much; 0 if less is left. */
  topUp(amount: number, least: number): number {
    let room = Math.ceil(amount);
    let next = 0;
    for (const limit of this.#limits) {
      if (!(limit instanceof BudgetLimit)) continue;
      const { periodStart, limit: most } = this.#claims[next++] as Claim;
      room = Math.min(room, limit.budget.roomOf({ mark: periodStart, limit: most, isOpen: limit.isOpen }));
    }
    if (!(room > 0 && room >= Math.ceil(least))) return 0;
    this.#holdMore(room);
    this.held += room;
    return room;
  }

  /** The call has ended. `tokens`: used by all its attempts. */
  settle(tokens: number): void {
    const nowMs = this.#clock.now();
    for (const limit of this.#limits) if (!(limit instanceof BudgetLimit)) limit.settle(this, tokens, nowMs);
    this.#holdMore(-this.held);
  }

  #holdMore(amount: number): void {
    let next = 0;
    if (this.#claims.length === 0) return;
    for (const limit of this.#limits) {
      if (limit instanceof BudgetLimit) limit.budget.extend((this.#claims[next++] as Claim).periodStart, amount);
    }
  }

  /** Of the first limits. */
  #giveBack(count: number): void {
    for (let index = 0; index < count; index++) {
      const limit = this.#limits[index] as BoundLimit;
      if (!(limit instanceof BudgetLimit)) limit.giveBack(this);
    }
    let next = 0;
    for (let index = 0; next < this.#claims.length; index++) {
      const limit = this.#limits[index];
      if (limit instanceof BudgetLimit) limit.budget.extend((this.#claims[next++] as Claim).periodStart, -this.held);
    }
    this.#claims.length = 0;
    this.held = Number.POSITIVE_INFINITY;
  }
}

export class WindowLimit {
  readonly rule: RateRule;
  readonly #window: Window;
  readonly #limit: number;
  readonly #isTokens: boolean;

  constructor(rule: RateRule, window: Window) {
    this.rule = rule;
    this.#window = window;
    this.#limit = rule.limit;
    this.#isTokens = rule.name === "tpm";
  }

  take({ tokens, atMs }: BoundPermit): boolean {
    return this.#window.add(this.#isTokens ? this.rule.amountOf(tokens) : 1, this.#limit, atMs);
  }

  giveBack({ tokens, atMs }: BoundPermit): void {
    this.#window.correct(this.#window.partOf(atMs), -this.rule.amountOf(tokens), atMs);
  }

  settle(permit: BoundPermit, tokens: number, nowMs: number): void {
    if (!this.#isTokens) return;
    this.#window.correct(this.#window.partOf(permit.atMs), tokens - this.rule.amountOf(permit.tokens), nowMs);
  }
}

export class GaugeLimit {
  readonly rule: RateRule;
  readonly #gauge: Gauge;

  constructor(rule: RateRule, gauge: Gauge) {
    this.rule = rule;
    this.#gauge = gauge;
  }

  take(): boolean {
    return this.#gauge.add(1, this.rule.limit);
  }

  giveBack(): void {
    this.#gauge.subtract(1);
  }

  settle(): void {
    this.#gauge.subtract(1);
  }
}

export class BudgetLimit {
  readonly rule: BudgetRule;
  readonly budget: Budget;
  readonly isOpen: boolean;

  constructor(rule: BudgetRule, budget: Budget) {
    this.rule = rule;
    this.budget = budget;
    this.isOpen = rule.scope.budget?.fail === "open";
  }
}
