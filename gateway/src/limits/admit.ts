import type { LimitScope, NanoUsd, Principal } from "#core/index.ts";
import type { Claim, ClaimState, Clock, Counter, Refused, Reserved } from "#ports/index.ts";
import { budgetRules } from "./budget.ts";
import { concurrencyRules } from "./concurrency.ts";
import type { LimitKind, LimitRule } from "./limit-rule.ts";
import { CountedPermit, FreePermit, type Permit, type PermitOffice } from "./permit.ts";
import { rateRules } from "./rate.ts";
import type { Spent } from "./spent.ts";
import type { Standing } from "./standing.ts";

/** Every kind of limit there is. The first that refuses is the one the caller is told of: the longest wait first. */
const kinds: readonly LimitKind[] = [budgetRules, rateRules, concurrencyRules];

const nothing: Spent = { tokens: 0, nanoUsd: 0 };

export interface AdmissionOptions {
  readonly counter: Counter;
  readonly clock: Clock;
}

export interface Admission {
  /** Throws budget_exceeded or rate_limit_exceeded; then nothing was taken from any limit. A promise only when the counter is shared. */
  admit(principal: Principal, estimate: Spent): Permit | Promise<Permit>;
  /**
   * Throws what `admit` would throw now for a call that asks for nothing, and so for every other. Takes nothing: it is
   * asked before a call is read, and `admit` decides after that.
   */
  check(principal: Principal): void | Promise<void>;
  /**
   * Money only, for work that outlives its call (a video task): held until it is settled or released. Throws
   * budget_exceeded, but never for what is `known`: it was granted before a restart, and is only counted again.
   */
  hold(principal: Principal, nanoUsd: NanoUsd, known: boolean): Permit | Promise<Permit>;
  /** How far each limit of the caller is used up, widest scope first. Takes nothing. */
  standing(principal: Principal): Promise<readonly Standing[]>;
  /** The same of any scopes, in their order. */
  standings(scopes: readonly LimitScope[]): Promise<readonly Standing[]>;
  /** Reservations not yet settled or released; 0 at rest. */
  readonly outstanding: number;
  /** Endings of permits that had ended before; 0 unless something is wrong. */
  readonly repeatedEndings: number;
  /** Settlements that a shared counter did not take. Its own leases put them right. */
  readonly unsettled: number;
}

export function createAdmission(options: AdmissionOptions): Admission {
  return new CountedAdmission(options.counter, options.clock);
}

class CountedAdmission implements Admission, PermitOffice {
  readonly counter: Counter;
  readonly #clock: Clock;
  /** By scope object: a new catalog brings new objects, so a changed limit is never served from here. */
  readonly #rules = new WeakMap<LimitScope, readonly LimitRule[]>();
  /** The same, put together for a caller; a principal lives as long as its catalog. */
  readonly #rulesOfCaller = new WeakMap<Principal, readonly LimitRule[]>();
  #repeatedEndings = 0;
  #unsettled = 0;

  constructor(counter: Counter, clock: Clock) {
    this.counter = counter;
    this.#clock = clock;
  }

  get outstanding(): number {
    return this.counter.outstanding;
  }

  get repeatedEndings(): number {
    return this.#repeatedEndings;
  }

  get unsettled(): number {
    return this.#unsettled;
  }

  repeated(): void {
    this.#repeatedEndings++;
  }

  /** Permits call this; the failure's own words belong to the counter that met it, which logs them. */
  notTaken(): void {
    this.#unsettled++;
  }

  admit(principal: Principal, estimate: Spent): Permit | Promise<Permit> {
    return this.#reserve(this.#rulesOf(principal), estimate, false);
  }

  check(principal: Principal): void | Promise<void> {
    const rules = this.#rulesOf(principal);
    const nowMs = this.#clock.now();
    const later: Promise<void>[] = [];
    for (const rule of rules) {
      const claim = rule.claim(nothing, nowMs);
      const refuse = (state: ClaimState): void => {
        if (state.used + claim.amount > claim.limit) throw rule.refusal(state, nothing, nowMs);
      };
      const state = this.counter.peek(claim);
      if (state instanceof Promise) later.push(state.then(refuse));
      else refuse(state);
    }
    if (later.length > 0) return Promise.all(later).then(() => undefined);
  }

  hold(principal: Principal, nanoUsd: NanoUsd, known: boolean): Permit | Promise<Permit> {
    const budgets = this.#rulesOf(principal).filter(({ name }) => name === "budget");
    return this.#reserve(budgets, { tokens: 0, nanoUsd }, known);
  }

  #reserve(rules: readonly LimitRule[], estimate: Spent, known: boolean): Permit | Promise<Permit> {
    if (rules.length === 0) return new FreePermit(this);
    const nowMs = this.#clock.now();
    const claims: Claim[] = [];
    for (const rule of rules) {
      const claim = rule.claim(estimate, nowMs);
      claims.push(known ? { ...claim, limit: Number.MAX_SAFE_INTEGER } : claim);
    }
    const answer = this.counter.reserve(claims);
    if (answer instanceof Promise) return answer.then((later) => this.#permit(rules, later, estimate, nowMs));
    return this.#permit(rules, answer, estimate, nowMs);
  }

  standing(principal: Principal): Promise<readonly Standing[]> {
    return this.#standingsOf(this.#rulesOf(principal));
  }

  standings(scopes: readonly LimitScope[]): Promise<readonly Standing[]> {
    return this.#standingsOf(scopes.flatMap((scope) => this.#scopeRules(scope)));
  }

  async #standingsOf(rules: readonly LimitRule[]): Promise<readonly Standing[]> {
    const nowMs = this.#clock.now();
    return Promise.all(
      rules.map(async (rule) => rule.standing(await this.counter.peek(rule.claim(nothing, nowMs)), nowMs)),
    );
  }

  #permit(rules: readonly LimitRule[], answer: Reserved | Refused, estimate: Spent, nowMs: number): Permit {
    if (answer.granted) return new CountedPermit(this, rules, answer);
    const rule = rules[answer.index];
    if (rule === undefined) throw new RangeError("The counter refused a claim it was not given.");
    throw rule.refusal(answer.state, estimate, nowMs);
  }

  #rulesOf(principal: Principal): readonly LimitRule[] {
    const known = this.#rulesOfCaller.get(principal);
    if (known !== undefined) return known;
    const all: LimitRule[] = [];
    for (const scope of principal.scopes) {
      for (const rule of this.#scopeRules(scope)) all.push(rule);
    }
    this.#rulesOfCaller.set(principal, all);
    return all;
  }

  #scopeRules(scope: LimitScope): readonly LimitRule[] {
    const known = this.#rules.get(scope);
    if (known !== undefined) return known;
    const rules = kinds.flatMap((kind) => kind(scope));
    this.#rules.set(scope, rules);
    return rules;
  }
}
