import { bounds, Failure, type LimitScope, type NanoUsd, oncePerObject, type Principal, sleep } from "#core/index.ts";
import type { Claim, ClaimState, Clock, Counter, Refused, Reserved, SharedHold } from "#ports/index.ts";
import { BudgetRule, budgetRules, type CountedBudget, RefusedBudgets } from "./budget.ts";
import {
  type Estimate,
  type LimitRule,
  noMoney,
  nothingWanted,
  type ScopeLimitUsage,
  type Wanted,
} from "./limit-rule.ts";
import { Permit, type PermitOwner, type RateHeaders, rateHeaders } from "./permit.ts";
import { rateRules } from "./rates.ts";
import { type Cost, Spending, type SpendingSource, type Unknown } from "./spending.ts";

const nothing: Wanted = Object.freeze({ tokens: 0, ...noMoney });

export interface AdmissionOptions {
  readonly counter: Counter;
  /** Its wall clock says which period of a budget runs. */
  readonly clock: Clock;
  /** Where spending before a budget's first use is read. Absent: there was none. */
  readonly spending?: SpendingSource;
}

interface CallerRules {
  readonly all: readonly LimitRule[];
  readonly budgets: readonly BudgetRule[];
  /** The others. */
  readonly unpaid: readonly LimitRule[];
}

export class Admission implements PermitOwner {
  readonly #counter: Counter;
  readonly #clock: Clock;
  readonly #spending: Spending;
  /** The caller gets the first refusal: the longest waits come first. */
  readonly #scopeRules = oncePerObject((scope: LimitScope): readonly LimitRule[] => [
    ...budgetRules(scope),
    ...rateRules(scope),
  ]);
  readonly #rulesOf = oncePerObject(({ scopes }: Principal): CallerRules => {
    const all = scopes.flatMap((scope) => this.#scopeRules(scope));
    const budgets = all.filter((rule) => rule instanceof BudgetRule);
    return { all, budgets, unpaid: all.filter((rule) => !(rule instanceof BudgetRule)) };
  });
  readonly #refused: RefusedBudgets;
  #repeatedEndings = 0;
  #unsettled = 0;

  constructor({ counter, clock, spending }: AdmissionOptions) {
    this.#counter = counter;
    this.#clock = clock;
    this.#refused = new RefusedBudgets(clock);
    this.#spending = new Spending({ counter, clock, source: spending ?? null });
  }

  /** Reservations not yet settled or released; 0 at rest. */
  get outstanding(): number {
    return this.#counter.outstanding;
  }

  /** Endings of permits that had ended before; 0 unless something is wrong. */
  get repeatedEndings(): number {
    return this.#repeatedEndings;
  }

  /** Settlements that a shared counter did not take. Its leases correct them. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** Holds outlive the process, in a counter that several share. */
  get holdsLast(): boolean {
    return this.#counter.shared !== undefined;
  }

  /**
   * Throws budget_exceeded, budget_held or rate_limit_exceeded, or ledger_unavailable where a budget's spending is not known; then
   * nothing is reserved. A promise when the counter is shared, or at a budget's first use. `id`: of the request.
   */
  admit(principal: Principal, estimate: Estimate, id?: string): Permit | Promise<Permit> {
    const { all, budgets, unpaid } = this.#rulesOf(principal);
    const isFree = estimate.isFree === true;
    const { most, least } = isFree || budgets.length === 0 ? noMoney : estimate.money();
    const wanted = { tokens: estimate.tokens, most, least };
    return this.#reserve(isFree ? unpaid : all, wanted, { known: false, id, isCall: true });
  }

  /** Throws what `admit` would throw now for any call, as far as this process knows. Reserves nothing. `isFree`: no budget is asked. */
  check(principal: Principal, isFree = false): void {
    const { all, unpaid } = this.#rulesOf(principal);
    const nowMs = this.#clock.now();
    for (const rule of isFree ? unpaid : all) {
      const claim = rule.claim(nothing, nowMs);
      // A shared counter is asked once for a call, by `admit`: here its last answer counts.
      const state =
        this.#counter.lastKnownState === undefined ? this.#counter.peek(claim) : this.#counter.lastKnownState(claim);
      if (state === null || state instanceof Promise) continue;
      const usedUp = claim.kind === "budget" && state.used >= claim.limit;
      if (!usedUp && state.used + claim.amount <= claim.limit) continue;
      throw this.#refusal(rule, claim, state, nothing, nowMs);
    }
  }

  /**
   * Holds money for a task. Throws budget_exceeded or budget_held, but not for what is `known`: it was granted before a restart. `id`:
   * the task's; all processes share its reservation.
   */
  hold(principal: Principal, nanoUsd: NanoUsd, known: boolean, id?: string): Permit | Promise<Permit> {
    const wanted = { tokens: 0, most: nanoUsd, least: nanoUsd };
    return this.#reserve(this.#rulesOf(principal).budgets, wanted, { known, id, isCall: false });
  }

  /** Counts what an entry cost. Call it before its permit ends. */
  settled(cost: Cost): void {
    this.#spending.settled(cost);
  }

  /** Counts what a task cost and ends its hold, which may be another process's. Does nothing without a shared counter. */
  async endHold(taskId: string, cost: Cost): Promise<void> {
    const { shared } = this.#counter;
    if (shared === undefined) return;
    this.#spending.settledAnywhere(cost);
    await shared.endHold(taskId);
  }

  /** Some holds of a shared counter, whoever made them. */
  async someHolds(count: number): Promise<readonly SharedHold[]> {
    return (await this.#counter.shared?.sampleHolds(count)) ?? [];
  }

  /** Counts entries that another process settled. */
  storedElsewhere(costs: readonly Cost[]): Promise<void> {
    return this.#spending.storedElsewhere(costs);
  }

  /** Frees the money that a dead process (`proc_…`) held, once its entries are in the ledger; see the port. */
  async adopted(owner: string, storedAgoMs: number | null): Promise<void> {
    await this.#counter.shared?.releaseOwner(owner, storedAgoMs);
  }

  /** The caller's tightest rates. Takes nothing. */
  async rateHeaders(principal: Principal): Promise<RateHeaders> {
    const { unpaid } = this.#rulesOf(principal);
    const nowMs = this.#clock.now();
    const states = await Promise.all(unpaid.map((rule) => this.#counter.peek(rule.claim(nothing, nowMs))));
    return rateHeaders(unpaid, states);
  }

  /** How far each limit of these scopes is used up, in their order. */
  async limitUsages(scopes: readonly LimitScope[]): Promise<readonly ScopeLimitUsage[]> {
    const rules = scopes.flatMap((scope) => this.#scopeRules(scope));
    const unknown = await this.#spending.meet(countedBy(rules));
    const nowMs = this.#clock.now();
    return Promise.all(
      rules.map(async (rule) => {
        const claim = rule.claim(nothing, nowMs);
        const state = await this.#counter.peek(claim);
        const limitUsage = { ...rule.limitUsage(state, nowMs), refusedAt: this.#refused.latest(claim, state) };
        // The counter does not know all that was spent.
        return unknown.has(claim.key) ? { ...limitUsage, used: null } : limitUsage;
      }),
    );
  }

  close(): void {
    this.#spending.close();
  }

  repeated(): void {
    this.#repeatedEndings++;
  }

  settle(ticket: object, actual: readonly number[]): void {
    const done = this.#counter.settle(ticket, actual);
    if (done instanceof Promise) done.catch(() => this.#settleAgain(ticket, actual));
  }

  /** A few times, after longer and longer waits: the counter ends a reservation only once. */
  async #settleAgain(ticket: object, actual: readonly number[]): Promise<void> {
    let waitMs: number = bounds.settleRetryMs;
    for (let turn = 0; turn < bounds.settleRetriesMax; turn++) {
      await sleep(this.#clock, waitMs, null);
      waitMs *= 2;
      try {
        await this.#counter.settle(ticket, actual);
        return;
      } catch {
        // The counter has logged it.
      }
    }
    this.#unsettled++;
  }

  /** 0 may mean that spending has to be read first, as after the death of another process: then it asks again. */
  topUp(rules: readonly LimitRule[], ticket: object, amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd> {
    const got = this.#counter.topUp(ticket, amount, least);
    if (typeof got === "number" && got > 0) return got;
    const orRead = (): NanoUsd | Promise<NanoUsd> => {
      const unknown = this.#spending.meet(countedBy(rules));
      return unknown instanceof Promise ? unknown.then(() => this.#counter.topUp(ticket, amount, least)) : 0;
    };
    return got instanceof Promise ? got.then((later) => (later > 0 ? later : orRead())) : orRead();
  }

  #reserve(
    rules: readonly LimitRule[],
    wanted: Wanted,
    { known, id, isCall }: { readonly known: boolean; readonly id: string | undefined; readonly isCall: boolean },
  ): Permit | Promise<Permit> {
    if (rules.length === 0) return new Permit(this, rules, null);
    const nowMs = this.#clock.now();
    const claims: Claim[] = [];
    for (const rule of rules) {
      const claim = rule.claim(wanted, nowMs);
      claims.push(known ? { ...claim, limit: Number.POSITIVE_INFINITY } : claim);
    }
    return this.#take({ rules, claims, wanted, nowMs, id, isCall });
  }

  #take(asked: Asked): Permit | Promise<Permit> {
    const { claims, id, isCall } = asked;
    const { shared } = this.#counter;
    const isHold = !isCall && shared !== undefined && id !== undefined;
    const answer = isHold ? shared.hold(id, claims) : this.#counter.reserve(claims, id, isCall);
    return answer instanceof Promise ? answer.then((later) => this.#permit(asked, later)) : this.#permit(asked, answer);
  }

  #permit(asked: Asked, answer: Reserved | Refused): Permit | Promise<Permit> {
    if (answer.granted) {
      // Another process may have made the budget known, and this one may never have asked: its share admits calls by itself.
      for (const rule of asked.rules) if (rule instanceof BudgetRule) this.#spending.counts(rule.counted);
      return new Permit(this, asked.rules, answer);
    }
    if (answer.reason === "unknown" && asked.unknown === undefined) {
      const unknown = this.#spending.meet(countedBy(asked.rules));
      return unknown instanceof Promise
        ? unknown.then((later) => this.#askAgain(asked, later))
        : this.#askAgain(asked, unknown);
    }
    const rule = asked.rules[answer.index];
    const claim = asked.claims[answer.index];
    if (rule === undefined || claim === undefined)
      throw new RangeError("The counter refused a claim it was not given.");
    if (answer.reason === "limit") throw this.#refusal(rule, claim, answer.state, asked.wanted, asked.nowMs);
    throw uncountable(answer.reason === "unknown" ? "unread" : answer.reason, answer.state.freeInMs);
  }

  #refusal(rule: LimitRule, claim: Claim, state: ClaimState, wanted: Wanted, nowMs: number): Failure {
    const failure = rule.refusal(state, wanted, nowMs);
    if (failure.code === "budget_exceeded") this.#refused.note(claim, nowMs);
    return failure;
  }

  /** A budget that cannot be counted now lets the call pass, or not, as its `fail` says. */
  #askAgain(asked: Asked, unknown: ReadonlyMap<string, Unknown>): Permit | Promise<Permit> {
    const claims = asked.claims.map((claim) => {
      const why = unknown.get(claim.key);
      if (why === undefined || claim.limit === Number.POSITIVE_INFINITY) return claim;
      if (claim.fail === "closed") throw uncountable(why, bounds.budgetReadRetryMsMax);
      return { ...claim, limit: Number.POSITIVE_INFINITY };
    });
    return this.#take({ ...asked, claims, unknown });
  }
}

/** Admits calls that use no tokens and no money. The returned function ends one. Throws rate_limit_exceeded, budget_exceeded or budget_held. */
export function callCounter(admission: Pick<Admission, "admit">): (principal: Principal) => Promise<() => void> {
  return async (principal) => {
    const permit = await admission.admit(principal, nothingWanted);
    return () => permit.settle(0);
  };
}

/** `isCall`: a call of this process, not a task. */
interface Asked {
  readonly rules: readonly LimitRule[];
  readonly claims: readonly Claim[];
  readonly wanted: Wanted;
  readonly nowMs: number;
  readonly id: string | undefined;
  readonly isCall: boolean;
  /** Budgets that cannot be counted now; set once all of them were met. */
  readonly unknown?: ReadonlyMap<string, Unknown>;
}

function countedBy(rules: readonly LimitRule[]): readonly CountedBudget[] {
  return rules.filter((rule) => rule instanceof BudgetRule).map(({ counted }) => counted);
}

const uncountableWords: Readonly<Record<Unknown, string>> = {
  full: "There is no room to count a limit of this call now; tell your administrator.",
  unread: "What a budget of this call has spent so far cannot be read now; try again soon.",
  unreachable: "The shared counter of this call's limits does not answer now; try again soon.",
};

function uncountable(why: Unknown, retryAfterMs: number): Failure {
  return new Failure("ledger_unavailable", uncountableWords[why], { retryAfterMs });
}
