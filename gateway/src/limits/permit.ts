import type { NanoUsd } from "#core/index.ts";
import type { ClaimState, Counter, Reserved } from "#ports/index.ts";
import type { LimitRule } from "./limit-rule.ts";
import type { Spent } from "./spent.ts";

/** One limit as response headers tell it. */
export interface LimitHeader {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until some of what is used is free again. */
  readonly resetMs: number;
}

/** The tightest limits of the caller; null where nothing limits it. */
export interface RateHeaders {
  readonly requests: LimitHeader | null;
  readonly tokens: LimitHeader | null;
}

/**
 * A place in every limit of the caller, held until `settle` or `release`. The first of them counts; what comes after it
 * does nothing, and answers false. With a shared counter the effect may come a moment later than the return.
 */
export interface Permit {
  /** The call was sent and took this much, over all its attempts. Its entries have told the budgets what it cost. */
  settle(spent: Spent): boolean;
  /** Nothing was sent: everything is given back, the request itself too. */
  release(): boolean;
  /** Money that is held for the call on each of its budgets; Infinity when it has none, so that it may cost anything. */
  readonly held: NanoUsd;
  /** Holds more of it: `amount`, or what is left down to `least`. How much that is; 0 when so much is not left. */
  topUp(amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd>;
  rateHeaders(): RateHeaders;
  /** The budget of the caller of which the most is spent; null: there is none, or how far it is spent is not known. */
  tightestBudget(nowMs: number): SpentBudget | null;
}

/** How far a budget is spent, without what is held for calls under way. */
export interface SpentBudget {
  /** Of all of it: 0 to 1. */
  readonly share: number;
  /** Unix seconds; null: never. */
  readonly resetsAt: number | null;
}

/** Where permits report to: how many endings were repeated, and what a shared counter did not take at once. */
export interface PermitOffice {
  readonly counter: Counter;
  repeated(): void;
  topUp(
    rules: readonly LimitRule[],
    reserved: Reserved,
    asked: readonly [amount: NanoUsd, least: NanoUsd],
  ): NanoUsd | Promise<NanoUsd>;
  retell(ticket: object, actual: readonly number[]): Promise<void>;
}

export class CountedPermit implements Permit {
  readonly #office: PermitOffice;
  readonly #rules: readonly LimitRule[];
  readonly #reserved: Reserved;
  #ended = false;

  constructor(office: PermitOffice, rules: readonly LimitRule[], reserved: Reserved) {
    this.#office = office;
    this.#rules = rules;
    this.#reserved = reserved;
  }

  settle(spent: Spent): boolean {
    const actual: number[] = [];
    for (const rule of this.#rules) actual.push(rule.actual(spent));
    return this.#end(actual);
  }

  release(): boolean {
    return this.#end(this.#rules.map(() => 0));
  }

  get held(): NanoUsd {
    return this.#reserved.held;
  }

  topUp(amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd> {
    return this.#ended ? 0 : this.#office.topUp(this.#rules, this.#reserved, [Math.ceil(amount), Math.ceil(least)]);
  }

  rateHeaders(): RateHeaders {
    return { requests: this.#tightest("rpm"), tokens: this.#tightest("tpm") };
  }

  tightestBudget(nowMs: number): SpentBudget | null {
    let tightest: SpentBudget | null = null;
    for (let index = 0; index < this.#rules.length; index++) {
      const [rule, state] = [this.#rules[index], this.#reserved.states[index]];
      if (rule?.name !== "budget" || state === undefined || state.limit <= 0) continue;
      const share = Math.min(1, Math.max(0, state.used - (state.held ?? 0)) / state.limit);
      if (tightest !== null && share <= tightest.share) continue;
      tightest = { share, resetsAt: rule.limitUsage(state, nowMs).resetsAt };
    }
    return tightest;
  }

  #end(actual: readonly number[]): boolean {
    if (this.#ended) {
      this.#office.repeated();
      return false;
    }
    this.#ended = true;
    const done = this.#office.counter.settle(this.#reserved.ticket, actual);
    if (done instanceof Promise) done.catch(() => this.#office.retell(this.#reserved.ticket, actual));
    return true;
  }

  #tightest(name: "rpm" | "tpm"): LimitHeader | null {
    let tightest: ClaimState | null = null;
    for (let index = 0; index < this.#rules.length; index++) {
      const state = this.#reserved.states[index];
      if (this.#rules[index]?.name !== name || state === undefined) continue;
      if (tightest === null || state.limit - state.used < tightest.limit - tightest.used) tightest = state;
    }
    if (tightest === null) return null;
    const { limit, used, freeInMs } = tightest;
    return { limit, remaining: Math.max(0, limit - used), resetMs: Math.ceil(freeInMs) };
  }
}

/** For a caller whom nothing limits: nothing was counted, so nothing is given back. It still ends only once. */
export class FreePermit implements Permit {
  readonly #office: PermitOffice;
  #ended = false;

  constructor(office: PermitOffice) {
    this.#office = office;
  }

  settle(): boolean {
    if (this.#ended) this.#office.repeated();
    const first = !this.#ended;
    this.#ended = true;
    return first;
  }

  release(): boolean {
    return this.settle();
  }

  readonly held = Number.POSITIVE_INFINITY;

  topUp(amount: NanoUsd): NanoUsd {
    return amount;
  }

  rateHeaders(): RateHeaders {
    return noRates;
  }

  tightestBudget(): null {
    return null;
  }
}

const noRates: RateHeaders = Object.freeze({ requests: null, tokens: null });
