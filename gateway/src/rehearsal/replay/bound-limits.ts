import { Budget, Gauge, Window } from "#coordination/index.ts";
import {
  type BudgetPolicy,
  followsAttempts,
  goesByTags,
  oncePerObject,
  periodEnd,
  personScopeId,
} from "#core/index.ts";
import { BudgetRule, CallRuleSets, type LimitRule, type Money, RateRule, spendingQuery } from "#limits/index.ts";
import type { Claim, ReportStore } from "#ports/index.ts";
import type { Caller } from "./callers.ts";
import type { PastCall } from "./past-call.ts";
import type { ReplayClock } from "./replay-clock.ts";

/** Finds what limits need of a call, only if they need it. */
export interface CallMoney {
  mostOf(call: PastCall): number;
  leastOf(call: PastCall, most: number): number;
  /** The model that it would be admitted for. */
  modelOf(call: PastCall): string;
}

interface BoundLimitsOptions {
  readonly clock: ReplayClock;
  readonly money: CallMoney;
  readonly reports: Pick<ReportStore, "spending">;
}

/**
 * Admits past calls by the rules and counters of live calls. Unlike a live admission, it finds the counters of a caller once instead of
 * for each call, and keeps no states for headers and messages: so it takes a fraction of the time. Shadow limits are left out, because
 * they refuse nothing.
 */
export class BoundLimits {
  readonly #options: BoundLimitsOptions;
  readonly #rules: CallRuleSets;
  /** Counters by the keys of claims. */
  readonly #windows = new Map<string, Window>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #budgets = new Map<string, Budget>();
  /** By the id of the scope: deleted keys count for them. */
  readonly #ofPeople = new Map<string, BudgetLimit>();

  constructor(options: BoundLimitsOptions) {
    this.#options = options;
    this.#rules = new CallRuleSets(options.clock);
  }

  /** Whether the limits of each caller are the same for all calls. */
  static canCount(policies: readonly BudgetPolicy[]): boolean {
    return policies.every((policy) => !followsAttempts(policy) && !goesByTags(policy));
  }

  /** Returns the rule that refuses the call, if one does. A promise only at the first use of a budget. */
  admit(call: PastCall): BoundPermit | LimitRule | Promise<BoundPermit | LimitRule> {
    const { clock, money } = this.#options;
    const { all, rates, hasFallback } = this.#limitsOf(call.caller);
    const { tokens, isFree } = call.first;
    const limits = isFree ? rates : all;
    const model = hasFallback && !isFree ? money.modelOf(call) : undefined;
    const permit = new BoundPermit(limits, clock, tokens, model);
    return limits.length === rates.length ? this.#rated(permit) : this.#reserve(permit, call, money.mostOf(call));
  }

  /** Counts the cost of an attempt that began at `atMs`. */
  spend(caller: Caller, atMs: number, nanoUsd: number): void {
    for (const { rule, budget } of this.#limitsOf(caller).budgets) {
      budget.add(rule.periodOf(atMs), nanoUsd, rule.bucketOf(atMs));
    }
    const { workspace, person } = caller.principal;
    if (!caller.isDeleted || person === null) return;
    const ofPerson = this.#ofPeople.get(personScopeId(workspace.id, person));
    ofPerson?.budget.add(ofPerson.rule.periodOf(atMs), nanoUsd, ofPerson.rule.bucketOf(atMs));
  }

  #rated(permit: BoundPermit): BoundPermit | LimitRule {
    return permit.take(noMoney, Number.POSITIVE_INFINITY)?.rule ?? permit;
  }

  #reserve(
    permit: BoundPermit,
    call: PastCall,
    most: number,
  ): BoundPermit | LimitRule | Promise<BoundPermit | LimitRule> {
    const money = { most, least: most };
    const refusing = permit.take(money, Number.POSITIVE_INFINITY);
    if (refusing === null) return permit;
    if (!(refusing instanceof BudgetLimit)) return refusing.rule;
    const nowMs = this.#options.clock.now();
    if (!refusing.budget.isLoaded(refusing.rule.periodOf(nowMs))) {
      return this.#load(this.#limitsOf(call.caller).budgets, nowMs).then(() => this.#reserve(permit, call, most));
    }
    const least = Math.max(0, Math.ceil(this.#options.money.leastOf(call, most)));
    if (least >= Math.ceil(most)) return refusing.rule;
    // A stream can begin with what is left.
    const room = permit.room(money);
    return room > 0 && room >= least ? (permit.take(money, room)?.rule ?? permit) : refusing.rule;
  }

  /** Reads what was spent before the replay. */
  async #load(budgets: readonly BudgetLimit[], nowMs: number): Promise<void> {
    for (const { rule, budget } of budgets) {
      const start = rule.periodOf(nowMs);
      budget.begin(start, false, nowMs);
      if (budget.isLoaded(start)) continue;
      const { spent } = await this.#options.reports.spending([spendingQuery(rule.counted, start, nowMs)], nowMs);
      const { amount = 0, buckets } = spent[0] ?? {};
      const end = start < 0 ? null : periodEnd(rule.counted.window, start);
      const loaded = { amount, recent: [], cleanFrom: end ?? Number.POSITIVE_INFINITY, again: false };
      budget.load(start, buckets === undefined ? loaded : { ...loaded, buckets }, nowMs);
    }
  }

  #limitsOf(caller: Caller): CallerLimits {
    caller.limits ??= this.#bound(caller);
    return caller.limits;
  }

  #bound({ principal }: Caller): CallerLimits {
    const { all: rules, hasFallback } = this.#rules.of(principal);
    const all = rules.map((rule) => this.#limitOf(rule));
    const budgets = all.filter((limit) => limit instanceof BudgetLimit);
    for (const limit of budgets) {
      const { kind, id } = limit.rule.scope;
      if (kind === "person") this.#ofPeople.set(id, limit);
    }
    return { all, rates: all.filter((limit) => !(limit instanceof BudgetLimit)), budgets, hasFallback };
  }

  readonly #limitOf = oncePerObject((rule: LimitRule): BoundLimit => {
    const nowMs = this.#options.clock.now();
    if (rule instanceof BudgetRule) {
      return new BudgetLimit(
        rule,
        countedBy(this.#budgets, rule.counted.key, () => new Budget(nowMs)),
      );
    }
    if (!(rule instanceof RateRule)) throw new Error(`The limit ${rule.name} cannot be replayed.`);
    const { key, kind, windowMs } = rule.claim(0);
    if (kind === "gauge")
      return new GaugeLimit(
        rule,
        countedBy(this.#gauges, key, () => new Gauge()),
      );
    return new WindowLimit(
      rule,
      countedBy(this.#windows, key, () => new Window(windowMs, nowMs)),
    );
  });
}

/** The limits of a caller with their counters. */
export interface CallerLimits {
  /** In the order in which they refuse. */
  readonly all: readonly BoundLimit[];
  readonly rates: readonly BoundLimit[];
  readonly budgets: readonly BudgetLimit[];
  readonly hasFallback: boolean;
}

type BoundLimit = WindowLimit | GaugeLimit | BudgetLimit;

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

class WindowLimit {
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

class GaugeLimit {
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

class BudgetLimit {
  readonly rule: BudgetRule;
  readonly budget: Budget;
  readonly isOpen: boolean;

  constructor(rule: BudgetRule, budget: Budget) {
    this.rule = rule;
    this.budget = budget;
    this.isOpen = rule.scope.budget?.fail === "open";
  }
}

function countedBy<Counter>(counters: Map<string, Counter>, key: string, create: () => Counter): Counter {
  let counter = counters.get(key);
  if (counter === undefined) {
    counter = create();
    counters.set(key, counter);
  }
  return counter;
}

const noMoney: Money = { most: 0, least: 0 };
