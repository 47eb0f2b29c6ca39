import type { Budget, Gauge, Window } from "#coordination/index.ts";
import type { BudgetRule, RateRule } from "#limits/index.ts";
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
  /** Money held in each budget; Infinity if there is none. */
  held = Number.POSITIVE_INFINITY;

  constructor(limits: readonly BoundLimit[], clock: ReplayClock, tokens: number, model: string | undefined) {
    this.#limits = limits;
    this.#clock = clock;
    this.atMs = clock.now();
    this.tokens = tokens;
    this.model = model;
  }

  /** Takes a place in all limits, with this money in each budget. Returns the limit that refuses; then nothing is taken. */
  take(amount: number): BoundLimit | null {
    const limits = this.#limits;
    for (let index = 0; index < limits.length; index++) {
      const limit = limits[index] as BoundLimit;
      if (limit.take(this, amount)) continue;
      for (let before = 0; before < index; before++) (limits[before] as BoundLimit).giveBack(this, amount);
      return limit;
    }
    return null;
  }

  holds(amount: number): this {
    this.held = amount;
    return this;
  }

  /** The smallest amount that is left in its budgets. */
  get room(): number {
    let room = Number.POSITIVE_INFINITY;
    for (const limit of this.#limits) if (limit instanceof BudgetLimit) room = Math.min(room, limit.room(this));
    return room;
  }

  /** Holds up to `amount` more, and at least `least`. Returns how much; 0 if less is left. */
  topUp(amount: number, least: number): number {
    let room = Math.ceil(amount);
    for (const limit of this.#limits) if (limit instanceof BudgetLimit) room = Math.min(room, limit.roomToTopUp(this));
    if (!(room > 0 && room >= Math.ceil(least))) return 0;
    for (const limit of this.#limits) if (limit instanceof BudgetLimit) limit.giveBack(this, -room);
    this.held += room;
    return room;
  }

  /** The call has ended. `tokens`: used by all its attempts. */
  settle(tokens: number): void {
    const nowMs = this.#clock.now();
    for (const limit of this.#limits) limit.settle(this, tokens, nowMs);
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
  readonly #isOpen: boolean;

  constructor(rule: BudgetRule, budget: Budget) {
    this.rule = rule;
    this.budget = budget;
    this.#isOpen = rule.scope.budget?.fail === "open";
  }

  take({ atMs, model }: BoundPermit, amount: number): boolean {
    const { rule } = this;
    return this.budget.hold(rule.periodOf(atMs), rule.limitAt(atMs, model), rule.rollingFromAt(atMs), amount, atMs);
  }

  giveBack({ atMs }: BoundPermit, amount: number): void {
    this.budget.extend(this.rule.periodOf(atMs), -amount);
  }

  settle(permit: BoundPermit): void {
    this.giveBack(permit, permit.held);
  }

  room({ atMs, model }: BoundPermit): number {
    const { rule } = this;
    const limit = rule.limitAt(atMs, model);
    if (limit === Number.POSITIVE_INFINITY) return limit;
    const rollingFrom = rule.rollingFromAt(atMs);
    const periodStart = rule.periodOf(atMs);
    return this.budget.room(rollingFrom === undefined ? { periodStart, limit } : { periodStart, limit, rollingFrom });
  }

  roomToTopUp({ atMs, model }: BoundPermit): number {
    const { rule } = this;
    return this.budget.roomOf({
      mark: rule.periodOf(atMs),
      limit: rule.limitAt(atMs, model),
      isOpen: this.#isOpen,
    });
  }
}
