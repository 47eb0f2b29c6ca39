import type { NanoUsd } from "#core/index.ts";
import type { ClaimState, Counter, Reserved } from "#ports/index.ts";
import type { LimitRule } from "./limit-rule.ts";

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

/** How far a budget is spent, without what is held for calls under way. */
export interface SpentBudget {
  /** Of all of it: 0 to 1. */
  readonly share: number;
  /** Unix seconds; null: never. */
  readonly resetsAt: number | null;
}

/** Where permits report to: how many endings were repeated, and what a shared counter did not take at once. */
export interface PermitOwner {
  readonly counter: Counter;
  repeated(): void;
  topUp(rules: readonly LimitRule[], ticket: object, amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd>;
  retell(ticket: object, actual: readonly number[]): Promise<void>;
}

/**
 * A place in every limit of the caller, held until `settle` or `release`. The first of them counts; what comes after it
 * does nothing, and answers false. With a shared counter the effect may come a moment later than the return.
 */
export class Permit {
  readonly #owner: PermitOwner;
  readonly #rules: readonly LimitRule[];
  /** null: nothing limits the caller, so nothing was counted. */
  readonly #reserved: Reserved | null;
  #ended = false;

  constructor(owner: PermitOwner, rules: readonly LimitRule[], reserved: Reserved | null) {
    this.#owner = owner;
    this.#rules = rules;
    this.#reserved = reserved;
  }

  /** The call was sent and used so many tokens, over all its attempts. Its entries have told the budgets what it cost. */
  settle(tokens: number): boolean {
    const actual: number[] = [];
    for (const rule of this.#rules) actual.push(rule.actual(tokens));
    return this.#end(actual);
  }

  /** Nothing was sent: everything is given back, the request itself too. */
  release(): boolean {
    return this.#end(this.#rules.map(() => 0));
  }

  /** Money that is held for the call on each of its budgets; Infinity when it has none, so that it may cost anything. */
  get held(): NanoUsd {
    return this.#reserved?.held ?? Number.POSITIVE_INFINITY;
  }

  /** Holds more of it: `amount`, or what is left down to `least`. How much that is; 0 when so much is not left. */
  topUp(amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd> {
    if (this.#reserved === null) return amount;
    if (this.#ended) return 0;
    return this.#owner.topUp(this.#rules, this.#reserved.ticket, Math.ceil(amount), Math.ceil(least));
  }

  rateHeaders(): RateHeaders {
    return this.#reserved === null ? noRates : { requests: this.#tightest("rpm"), tokens: this.#tightest("tpm") };
  }

  /** The budget of the caller of which the most is spent; null: there is none, or how far it is spent is not known. */
  tightestBudget(nowMs: number): SpentBudget | null {
    let tightest: SpentBudget | null = null;
    for (const [index, rule] of this.#rules.entries()) {
      const state = this.#reserved?.states[index];
      if (rule.name !== "budget" || state === undefined || state.limit <= 0) continue;
      const share = Math.min(1, Math.max(0, state.used - (state.held ?? 0)) / state.limit);
      if (tightest !== null && share <= tightest.share) continue;
      tightest = { share, resetsAt: rule.limitUsage(state, nowMs).resetsAt };
    }
    return tightest;
  }

  #end(actual: readonly number[]): boolean {
    if (this.#ended) {
      this.#owner.repeated();
      return false;
    }
    this.#ended = true;
    if (this.#reserved === null) return true;
    const { ticket } = this.#reserved;
    const done = this.#owner.counter.settle(ticket, actual);
    if (done instanceof Promise) done.catch(() => this.#owner.retell(ticket, actual));
    return true;
  }

  #tightest(name: "rpm" | "tpm"): LimitHeader | null {
    let tightest: ClaimState | null = null;
    for (let index = 0; index < this.#rules.length; index++) {
      const state = this.#reserved?.states[index];
      if (this.#rules[index]?.name !== name || state === undefined) continue;
      if (tightest === null || state.limit - state.used < tightest.limit - tightest.used) tightest = state;
    }
    if (tightest === null) return null;
    const { limit, used, freeInMs } = tightest;
    return { limit, remaining: Math.max(0, limit - used), resetMs: Math.ceil(freeInMs) };
  }
}

const noRates: RateHeaders = Object.freeze({ requests: null, tokens: null });
