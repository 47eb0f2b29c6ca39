import { Budget, Gauge, Window } from "#coordination/index.ts";
import {
  type BudgetPolicy,
  followsAttempts,
  goesByTags,
  oncePerObject,
  type Principal,
  periodEnd,
  personScopeId,
} from "#core/index.ts";
import { BudgetRule, CallRuleSets, type LimitRule, RateRule, spendingQuery } from "#limits/index.ts";
import type { ReportStore } from "#ports/index.ts";
import {
  type BoundLimit,
  BoundPermit,
  BudgetLimit,
  type CallerLimits,
  GaugeLimit,
  WindowLimit,
} from "./bound-permit.ts";
import type { Caller } from "./callers.ts";
import type { PastCall } from "./past-call.ts";
import type { ReplayClock } from "./replay-clock.ts";

/** Finds what limits need of a call, only if they need it. */
interface CallMoney {
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
  /** By the ids of the limited scopes: most keys of a group have the same. */
  readonly #shared = new Map<string, CallerLimits>();

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
    if (limits.length === rates.length) return permit.take(0)?.rule ?? permit;
    return this.#reserve(permit, call, Math.max(0, Math.ceil(money.mostOf(call))));
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

  #reserve(
    permit: BoundPermit,
    call: PastCall,
    most: number,
  ): BoundPermit | LimitRule | Promise<BoundPermit | LimitRule> {
    const refusing = permit.take(most);
    if (refusing === null) return permit.holds(most);
    if (!(refusing instanceof BudgetLimit)) return refusing.rule;
    const { atMs } = permit;
    if (!refusing.budget.isLoaded(refusing.rule.periodOf(atMs))) {
      return this.#load(this.#limitsOf(call.caller).budgets, atMs).then(() => this.#reserve(permit, call, most));
    }
    const least = Math.max(0, Math.ceil(this.#options.money.leastOf(call, most)));
    if (least >= most) return refusing.rule;
    // A stream can begin with what is left.
    const { room } = permit;
    return room > 0 && room >= least
      ? (permit.take(Math.min(most, room))?.rule ?? permit.holds(Math.min(most, room)))
      : refusing.rule;
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
    caller.limits ??= this.#sharedOf(caller.principal);
    return caller.limits;
  }

  #sharedOf(principal: Principal): CallerLimits {
    const { scopes, policies } = principal;
    if (policies !== undefined) return this.#bound(principal);
    const ids: string[] = [];
    for (const { id, limits, budget } of scopes) if (budget !== null || Object.keys(limits).length > 0) ids.push(id);
    const name = ids.join(" ");
    const shared = this.#shared.get(name) ?? this.#bound(principal);
    this.#shared.set(name, shared);
    return shared;
  }

  #bound(principal: Principal): CallerLimits {
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

function countedBy<Counter>(counters: Map<string, Counter>, key: string, create: () => Counter): Counter {
  let counter = counters.get(key);
  if (counter === undefined) {
    counter = create();
    counters.set(key, counter);
  }
  return counter;
}
