import {
  type BudgetPolicy,
  bounds,
  Failure,
  type LimitScope,
  type NanoUsd,
  type PolicyScope,
  type Principal,
  sleep,
} from "#core/index.ts";
import type { Claim, ClaimState, Clock, Counter, Refused, Reserved, SharedHold } from "#ports/index.ts";
import { BudgetRule, type CountedBudget, RefusedBudgets } from "./budget.ts";
import { type AttemptPlace, CallRuleSets, type CallRules, type HeldCall } from "./call-rules.ts";
import {
  type Estimate,
  type LimitRule,
  type Money,
  noMoney,
  nothingWanted,
  type ScopeLimitUsage,
} from "./limit-rule.ts";
import { Permit, type PermitOwner, type RateStates, tightestRate } from "./permit.ts";
import { ShadowTrial } from "./shadow-trial.ts";
import { type Cost, Spending, type SpendingSource, type Unknown } from "./spending.ts";

export interface AdmissionOptions {
  readonly counter: Counter;
  /** The periods of budgets follow its wall clock. */
  readonly clock: Clock;
  /** The budget policies now. Absent: none. */
  readonly policies?: () => readonly BudgetPolicy[];
  /** Reads what was spent before a budget's first use. Absent: nothing was. */
  readonly spending?: SpendingSource;
  /** Called for each call that a shadow limit would have refused. */
  readonly onShadowRefusal?: (rule: Pick<LimitRule, "name" | "scope">) => void;
}

/** A call that a limit refuses. Nothing is reserved for it. */
export class Denial {
  readonly rule: LimitRule;
  readonly claim: Claim;
  readonly state: ClaimState;
  readonly money: Money;
  readonly nowMs: number;

  constructor(rule: LimitRule, claim: Claim, state: ClaimState, money: Money, nowMs: number) {
    this.rule = rule;
    this.claim = claim;
    this.state = state;
    this.money = money;
    this.nowMs = nowMs;
  }
}

type Decision = Permit | Denial;

/** A request for a permit. */
interface Reservation {
  readonly rules: readonly LimitRule[];
  readonly claims: readonly Claim[];
  readonly money: Money;
  readonly nowMs: number;
  reserve(claims: readonly Claim[]): Reserved | Refused | Promise<Reserved | Refused>;
}

export class Admission implements PermitOwner {
  readonly #counter: Counter;
  readonly #clock: Clock;
  readonly #spending: Spending;
  readonly #rules: CallRuleSets;
  readonly #refused: RefusedBudgets;
  readonly #onShadowRefusal: NonNullable<AdmissionOptions["onShadowRefusal"]>;
  #repeatedEndings = 0;
  #unsettled = 0;

  constructor({ counter, clock, policies, spending, onShadowRefusal }: AdmissionOptions) {
    this.#rules = new CallRuleSets(clock);
    this.#counter = counter;
    this.#clock = clock;
    this.#onShadowRefusal = onShadowRefusal ?? (() => undefined);
    this.#refused = new RefusedBudgets(clock);
    this.#spending = new Spending({
      ...{ counter, clock, source: spending ?? null },
      policies: policies ?? (() => []),
      counterValue: (policy, cost) => this.#rules.policies.counterValue(policy, cost),
    });
  }

  /** Reservations not yet settled or released; 0 at rest. */
  get outstanding(): number {
    return this.#counter.outstanding;
  }

  /** Permits that were ended again after their end; 0 unless something is wrong. */
  get repeatedEndings(): number {
    return this.#repeatedEndings;
  }

  /** Settlements that a shared counter did not accept. Its leases correct them. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** Holds outlive the process, in a shared counter. */
  get holdsLast(): boolean {
    return this.#counter.shared !== undefined;
  }

  /**
   * Throws or rejects with budget_exceeded, budget_held or rate_limit_exceeded, or with ledger_unavailable if a budget's spending is
   * unknown; then nothing is reserved. A promise if the counter is shared, at a budget's first use, and for a refusal. `id`: the
   * request's.
   */
  admit(principal: Principal, estimate: Estimate, id?: string): Permit | Promise<Permit> {
    return this.#orFail(this.tryAdmit(principal, estimate, id));
  }

  /** The same without a failure for a refusal, which takes longer than to decide. A promise only if there is something to wait for. */
  tryAdmit(principal: Principal, estimate: Estimate, id?: string): Decision | Promise<Decision> {
    return this.#admitBy(this.#rules.ofCall(principal, estimate), estimate, id);
  }

  #admitBy(rules: CallRules, estimate: Estimate, id?: string): Decision | Promise<Decision> {
    return rules.shadow.length === 0 ? this.#admit(rules, estimate, id) : this.#admitShadowed(rules, estimate, id);
  }

  #admitShadowed(rules: CallRules, estimate: Estimate, id?: string): Decision | Promise<Decision> {
    const decision = this.#admit(rules, estimate, id);
    const observed = (decided: Decision): Decision =>
      decided instanceof Permit ? this.#tryShadow(decided, rules.shadow, estimate) : decided;
    return decision instanceof Promise ? decision.then(observed) : observed(decision);
  }

  #orFail(decision: Decision | Promise<Decision>): Permit | Promise<Permit> {
    if (decision instanceof Permit) return decision;
    if (decision instanceof Denial) return Promise.reject(this.#failureOf(decision));
    return this.#orFailLater(decision);
  }

  #orFailLater(decision: Promise<Decision>): Promise<Permit> {
    return decision.then((decided) => this.#orFail(decided));
  }

  /**
   * Holds money for the next attempt on the policies that depend on its model or provider, in place of what an earlier attempt held.
   * Throws or rejects with budget_exceeded or budget_held. Returns undefined, without a promise, if there is nothing to wait for.
   * `money`: of the attempt alone.
   */
  enter(
    permit: Permit,
    principal: Principal,
    place: AttemptPlace,
    estimate: Pick<Estimate, "money" | "isFree">,
  ): Promise<void> | undefined {
    if (principal.policies === undefined || estimate.isFree === true) return undefined;
    permit.leaveAttempt();
    const rules = this.#rules.ofAttempt(principal, place);
    if (rules === null) return undefined;
    const held = this.#orFail(this.#admitBy(rules, { tokens: 0, call: place, money: () => estimate.money() }));
    if (!(held instanceof Promise)) {
      permit.enterAttempt(held);
      return undefined;
    }
    return held.then((later) => permit.enterAttempt(later));
  }

  #admit(
    { all, budgets, hasFallback, rates }: CallRules,
    estimate: Estimate,
    id?: string,
  ): Decision | Promise<Decision> {
    const isFree = estimate.isFree === true;
    const rules = isFree ? rates : all;
    if (rules.length === 0) return new Permit(this, rules, null);
    const money = isFree || budgets.length === 0 ? noMoney : estimate.money();
    const nowMs = this.#clock.now();
    const claims: Claim[] = [];
    const model = hasFallback ? estimate.call?.model : undefined;
    for (const rule of rules) claims.push(rule.claim(estimate.tokens, money, nowMs, model));
    const answer = this.#counter.reserve(claims, id, true);
    if (!(answer instanceof Promise) && answer.granted) return this.#permit(rules, answer);
    const reservation = { rules, claims, money, nowMs, reserve: this.#reserving(id) };
    const isPending = answer instanceof Promise || answer.reason !== "limit";
    return isPending ? this.#decide(reservation, answer) : this.#decided(reservation, answer);
  }

  #reserving(id: string | undefined): Reservation["reserve"] {
    return (claims) => this.#counter.reserve(claims, id, true);
  }

  /** Throws what `admit` would throw now for any call, as far as this process knows. Reserves nothing. `isFree`: budgets are skipped. */
  check(principal: Principal, isFree = false): void {
    const { all, rates } = this.#rules.of(principal);
    const nowMs = this.#clock.now();
    for (const rule of isFree ? rates : all) {
      // Its fallback model may serve the call.
      if (rule instanceof BudgetRule && rule.hasFallback) continue;
      const claim = rule.claim(0, noMoney, nowMs);
      // A shared counter is called once for each call, by `admit`. Here its last answer counts.
      const state =
        this.#counter.recentState === undefined ? this.#counter.peek(claim) : this.#counter.recentState(claim);
      if (state === null || state instanceof Promise) continue;
      const isUsedUp = claim.kind === "budget" && state.used >= claim.limit;
      if (!isUsedUp && state.used + claim.amount <= claim.limit) continue;
      throw this.#failureOf(new Denial(rule, claim, state, noMoney, nowMs));
    }
  }

  /**
   * Holds money for a task. Rejects with budget_exceeded or budget_held, unless it `isGranted`: it was granted before a restart. `id`:
   * the task's; all processes share its reservation. `call`: absent for rows of a batch, which may differ.
   */
  async hold(
    principal: Principal,
    nanoUsd: NanoUsd,
    isGranted: boolean,
    id?: string,
    call?: HeldCall,
  ): Promise<Permit> {
    const rules = this.#rules.heldBy(principal, call);
    if (rules.length === 0) return new Permit(this, rules, null);
    return await this.#hold(rules, nanoUsd, isGranted, id, call?.model);
  }

  /**
   * The same on the policies that depend on the provider, for a task that got its provider after `hold`. Resolves to null if none
   * applies. `id`: not the task's.
   */
  async holdAt(
    principal: Principal,
    nanoUsd: NanoUsd,
    isGranted: boolean,
    id: string,
    place: AttemptPlace,
  ): Promise<Permit | null> {
    const rules = this.#rules.ofProvider(principal, place);
    return rules.length === 0 ? null : await this.#hold(rules, nanoUsd, isGranted, id, place.model);
  }

  async #hold(
    rules: readonly BudgetRule[],
    nanoUsd: NanoUsd,
    isGranted: boolean,
    id: string | undefined,
    model: string | undefined,
  ): Promise<Permit> {
    const money = { most: nanoUsd, least: nanoUsd };
    const nowMs = this.#clock.now();
    const claims = rules.map((rule) => {
      const claim = rule.claim(0, money, nowMs, model);
      return isGranted ? { ...claim, limit: Number.POSITIVE_INFINITY } : claim;
    });
    const { shared } = this.#counter;
    const reserve: Reservation["reserve"] = (next) =>
      shared === undefined || id === undefined ? this.#counter.reserve(next, id) : shared.hold(id, next);
    return await this.#orFail(this.#decide({ rules, claims, money, nowMs, reserve }, reserve(claims)));
  }

  /** From now on `settled` counts entries of this caller, who was perhaps admitted by another process only. */
  countBudgets(principal: Principal): void {
    const { budgets, shadow } = this.#rules.of(principal);
    this.#countBudgets([...budgets, ...shadow]);
  }

  /** Counts the cost of an entry. Call it before its permit ends. */
  settled(cost: Cost): void {
    this.#spending.settled(cost);
  }

  /** Counts the cost of a task and ends its hold, which another process may have made. Does nothing without a shared counter. */
  async endHold(taskId: string, cost: Cost): Promise<void> {
    const { shared } = this.#counter;
    if (shared === undefined) return;
    await this.#spending.settledAnywhere(cost);
    await shared.endHold(taskId);
  }

  /** A sample of a shared counter's holds, from all processes. */
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

  /** The caller's rates now. Reserves nothing. */
  async rates(principal: Principal): Promise<RateStates> {
    const { rates } = this.#rules.of(principal);
    const nowMs = this.#clock.now();
    const states = await Promise.all(rates.map((rule) => this.#counter.peek(rule.claim(0, noMoney, nowMs))));
    return { tightestRate: (name) => tightestRate(rates, states, name) };
  }

  /** The counters of policies that all calls of this caller count for. */
  policyScopes(principal: Principal): readonly LimitScope[] {
    const { budgets, shadow } = this.#rules.of(principal);
    return [...budgets, ...shadow].flatMap(({ scope }) => (scope.kind === "policy" ? [scope] : []));
  }

  /** The counters of split policies that this process used most recently. */
  recentPolicyScopes(max: number): readonly PolicyScope[] {
    return this.#rules.policies.recentScopes(max);
  }

  /** The usage of each limit of these scopes, in their order. */
  async limitUsages(scopes: readonly LimitScope[]): Promise<readonly ScopeLimitUsage[]> {
    const rules = scopes.flatMap((scope) => this.#rules.ofScope(scope));
    const unknown = await this.#spending.load(countedBy(rules));
    const nowMs = this.#clock.now();
    return Promise.all(
      rules.map(async (rule) => {
        const claim = rule.claim(0, noMoney, nowMs);
        const state = await this.#counter.peek(claim);
        const limitUsage = { ...rule.limitUsage(state, nowMs), refusedAt: this.#refused.latest(claim, state) };
        // The counter may lack earlier spending.
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
    if (done instanceof Promise) void this.#awaitSettled(done, ticket, actual);
  }

  /** Retries with backoff, which is safe: the counter ends a reservation only once. */
  async #awaitSettled(done: Promise<void>, ticket: object, actual: readonly number[]): Promise<void> {
    try {
      await done;
      return;
    } catch {
      // The counter has logged it.
    }
    let waitMs: number = bounds.settleRetryMs;
    for (let retry = 0; retry < bounds.settleRetriesMax; retry++) {
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

  /** 0 may mean that spending has to be read first, for example because another process died. Then the counter is called again. */
  topUp(rules: readonly LimitRule[], ticket: object, amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd> {
    const got = this.#counter.topUp(ticket, amount, least);
    if (typeof got === "number" && got > 0) return got;
    const orRead = (): NanoUsd | Promise<NanoUsd> => {
      const unknown = this.#spending.load(countedBy(rules));
      return unknown instanceof Promise ? unknown.then(() => this.#counter.topUp(ticket, amount, least)) : 0;
    };
    return got instanceof Promise ? got.then((later) => (later > 0 ? later : orRead())) : orRead();
  }

  /** Counts an admitted call in shadow limits. Nothing waits for it, and its errors are ignored. */
  #tryShadow(permit: Permit, shadow: readonly LimitRule[], estimate: Estimate): Permit {
    const isFree = estimate.isFree === true;
    const rules = isFree ? shadow.filter((rule) => !(rule instanceof BudgetRule)) : shadow;
    if (rules.length === 0) return permit;
    const trial = new ShadowTrial((ticket, actual) => this.settle(ticket, actual), rules);
    try {
      const nowMs = this.#clock.now();
      const money = rules.some((rule) => rule instanceof BudgetRule) ? estimate.money() : noMoney;
      const model = estimate.call?.model;
      const claims = rules.map(
        (rule): Claim => ({ ...rule.claim(estimate.tokens, money, nowMs, model), fail: "open" }),
      );
      const answer = this.#counter.reserve(claims, undefined, true);
      if (answer instanceof Promise || isUnknown(answer)) {
        this.#tryShadowLater(trial, rules, claims, answer, nowMs).catch(() => undefined);
      } else this.#shadowDecided(trial, rules, claims, answer, nowMs);
    } catch {
      // A call without a price, for example, cannot be counted in a budget.
    }
    return permit.withShadow(trial);
  }

  async #tryShadowLater(
    trial: ShadowTrial,
    rules: readonly LimitRule[],
    first: readonly Claim[],
    pending: Reserved | Refused | Promise<Reserved | Refused>,
    nowMs: number,
  ): Promise<void> {
    let claims = first;
    let answer = await pending;
    if (isUnknown(answer)) {
      claims = withUncounted(claims, await this.#spending.load(countedBy(rules)));
      // The spending may include this call by now.
      if (trial.isOver) return;
      answer = await this.#counter.reserve(claims, undefined, true);
    }
    this.#shadowDecided(trial, rules, claims, answer, nowMs);
  }

  #shadowDecided(
    trial: ShadowTrial,
    rules: readonly LimitRule[],
    claims: readonly Claim[],
    answer: Reserved | Refused,
    nowMs: number,
  ): void {
    if (answer.granted) {
      this.#countBudgets(rules);
      trial.granted(answer.ticket);
      return;
    }
    const [rule, claim] = [rules[answer.index], claims[answer.index]];
    if (answer.reason !== "limit" || rule === undefined || claim === undefined) return;
    if (claim.kind === "budget") this.#refused.note(claim, nowMs);
    trial.refused(rule);
    this.#onShadowRefusal(rule);
  }

  /** Waits for a shared counter, and loads budgets that the counter does not know. Rejects with ledger_unavailable. */
  async #decide(
    reservation: Reservation,
    pending: Reserved | Refused | Promise<Reserved | Refused>,
  ): Promise<Decision> {
    const { rules, claims, reserve } = reservation;
    const answer = await pending;
    if (!isUnknown(answer)) return this.#decided(reservation, answer);
    const counted = withUncounted(claims, await this.#spending.load(countedBy(rules)));
    return this.#decided({ ...reservation, claims: counted }, await reserve(counted));
  }

  #decided({ rules, claims, money, nowMs }: Reservation, answer: Reserved | Refused): Decision {
    if (answer.granted) return this.#permit(rules, answer);
    const { index, state, reason } = answer;
    const [rule, claim] = [rules[index], claims[index]];
    if (rule === undefined || claim === undefined) throw new RangeError("The counter refused an unknown claim.");
    if (reason === "limit") return new Denial(rule, claim, state, money, nowMs);
    throw uncountable(reason === "unknown" ? "unread" : reason, state.freeInMs);
  }

  #permit(rules: readonly LimitRule[], reserved: Reserved): Permit {
    this.#countBudgets(rules);
    return new Permit(this, rules, reserved);
  }

  /** Another process may have loaded a budget that this one has never loaded: its share admits calls without asking. */
  #countBudgets(rules: readonly LimitRule[]): void {
    for (const rule of rules) if (rule instanceof BudgetRule) this.#spending.counts(rule.counted);
  }

  #failureOf({ rule, claim, state, money, nowMs }: Denial): Failure {
    const failure = rule.refusal(state, money, nowMs);
    if (failure.code === "budget_exceeded") this.#refused.note(claim, nowMs);
    return failure;
  }
}

/** Admits calls that use no tokens and no money. The returned function ends one. Throws rate_limit_exceeded, budget_exceeded or budget_held. */
export function callCounter(admission: Pick<Admission, "admit">): (principal: Principal) => Promise<() => void> {
  return async (principal) => {
    const permit = await admission.admit(principal, nothingWanted);
    return () => permit.settle(0);
  };
}

/** A budget that cannot be counted now admits the call if it fails open. Throws ledger_unavailable otherwise. */
function withUncounted(claims: readonly Claim[], unknown: ReadonlyMap<string, Unknown>): readonly Claim[] {
  return claims.map((claim) => {
    const reason = unknown.get(claim.key);
    if (reason === undefined || claim.limit === Number.POSITIVE_INFINITY) return claim;
    if (claim.fail === "closed") throw uncountable(reason, bounds.budgetReadRetryMsMax);
    return { ...claim, limit: Number.POSITIVE_INFINITY };
  });
}

function isUnknown(answer: Reserved | Refused): boolean {
  return !answer.granted && answer.reason === "unknown";
}

function countedBy(rules: readonly LimitRule[]): readonly CountedBudget[] {
  return rules.filter((rule) => rule instanceof BudgetRule).map(({ counted }) => counted);
}

const uncountableMessages: Readonly<Record<Unknown, string>> = {
  full: "There is no room to count a limit of this call now; contact your administrator.",
  unread: "The spending of a budget of this call cannot be read now; try again soon.",
  unreachable: "The shared counter of this call's limits does not answer now; try again soon.",
};

function uncountable(reason: Unknown, retryAfterMs: number): Failure {
  return new Failure("ledger_unavailable", uncountableMessages[reason], { retryAfterMs });
}
