import type { LimitHeader, NanoUsd } from "#core/index.ts";
import type { ClaimState, Reserved } from "#ports/index.ts";
import type { LimitRule } from "./limit-rule.ts";

/** The tightest limits of the caller. */
export interface RateHeaders {
  readonly requests: LimitHeader | null;
  readonly tokens: LimitHeader | null;
}

/** How far a budget is spent, without what is held. */
export interface SpentBudget {
  /** Of all of it: 0 to 1. */
  readonly share: number;
  /** Unix seconds; null: never. */
  readonly resetsAt: number | null;
}

export interface PermitOwner {
  /** An ended permit was ended again. */
  repeated(): void;
  topUp(rules: readonly LimitRule[], ticket: object, amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd>;
  settle(ticket: object, actual: readonly number[]): void;
}

/**
 * A place in every limit of the caller, held until `settle` or `release`. The first of them counts; what comes after it
 * does nothing, and answers false. With a shared counter the effect may come a moment later than the return.
 */
export class Permit {
  readonly #owner: PermitOwner;
  readonly #rules: readonly LimitRule[];
  /** null: the caller has no limits. */
  readonly #reserved: Reserved | null;
  #ended = false;

  constructor(owner: PermitOwner, rules: readonly LimitRule[], reserved: Reserved | null) {
    this.#owner = owner;
    this.#rules = rules;
    this.#reserved = reserved;
  }

  /** The call was sent and used so many tokens over all attempts. */
  settle(tokens: number): boolean {
    const actual: number[] = [];
    for (const rule of this.#rules) actual.push(rule.actual(tokens));
    return this.#end(actual);
  }

  /** Nothing was sent: everything is given back, the request itself too. */
  release(): boolean {
    return this.#end(this.#rules.map(() => 0));
  }

  /** Money that is held for the call on each of its budgets; Infinity when it has none. */
  get held(): NanoUsd {
    return this.#reserved?.held ?? Number.POSITIVE_INFINITY;
  }

  /** Holds up to `amount` more, and at least `least`. Returns how much; 0 when less is left. */
  topUp(amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd> {
    if (this.#reserved === null) return amount;
    if (this.#ended) return 0;
    return this.#owner.topUp(this.#rules, this.#reserved.ticket, Math.ceil(amount), Math.ceil(least));
  }

  rateHeaders(): RateHeaders {
    return this.#reserved === null ? noRates : rateHeaders(this.#rules, this.#reserved.states);
  }

  /** The budget of which the most is spent; null: there is none, or it is not known. */
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
    if (this.#reserved !== null) this.#owner.settle(this.#reserved.ticket, actual);
    return true;
  }
}

export function rateHeaders(rules: readonly LimitRule[], states: readonly ClaimState[]): RateHeaders {
  return { requests: tightest(rules, states, "rpm"), tokens: tightest(rules, states, "tpm") };
}

function tightest(rules: readonly LimitRule[], states: readonly ClaimState[], name: "rpm" | "tpm"): LimitHeader | null {
  let least: ClaimState | null = null;
  for (let index = 0; index < rules.length; index++) {
    const state = states[index];
    if (rules[index]?.name !== name || state === undefined) continue;
    if (least === null || state.limit - state.used < least.limit - least.used) least = state;
  }
  if (least === null) return null;
  const { limit, used, freeInMs } = least;
  return { limit, remaining: Math.max(0, limit - used), resetMs: Math.ceil(freeInMs) };
}

const noRates: RateHeaders = Object.freeze({ requests: null, tokens: null });
