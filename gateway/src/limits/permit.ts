import type { LimitHeader, NanoUsd } from "#core/index.ts";
import type { Reserved } from "#ports/index.ts";
import { actualUse, type LimitRule } from "./limit-rule.ts";
import type { ShadowTrial } from "./shadow-trial.ts";

/** How much of a budget is spent, without what is held. */
export interface SpentBudget {
  /** 0 to 1. */
  readonly share: number;
  /** Unix seconds; null: never. */
  readonly resetsAt: number | null;
}

export type RateStates = Pick<Permit, "tightestRate">;

export interface PermitOwner {
  /** A permit was ended that had ended before. */
  repeated(): void;
  topUp(rules: readonly LimitRule[], ticket: object, amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd>;
  settle(ticket: object, actual: readonly number[]): void;
}

/**
 * A place in every limit of the caller, held until `settle` or `release`. The first of them counts; later ones do nothing and return
 * false. A shared counter may apply it a moment after the return.
 */
export class Permit {
  readonly #owner: PermitOwner;
  readonly #rules: readonly LimitRule[];
  /** null: the caller has no limits. */
  readonly #reserved: Reserved | null;
  /** null: the caller has no shadow limits. */
  #shadow: ShadowTrial | null = null;
  /** Holds money on the policies of the current attempt; null: none apply. */
  #attempt: Permit | null = null;
  #ended = false;

  constructor(owner: PermitOwner, rules: readonly LimitRule[], reserved: Reserved | null) {
    this.#owner = owner;
    this.#rules = rules;
    this.#reserved = reserved;
  }

  withShadow(trial: ShadowTrial): this {
    this.#shadow = trial;
    return this;
  }

  /** Ends the last attempt's hold. Its ledger entry counts its cost. */
  leaveAttempt(): void {
    this.#attempt?.release();
    this.#attempt = null;
  }

  enterAttempt(held: Permit): void {
    this.leaveAttempt();
    // The caller went away meanwhile.
    if (this.#ended) held.release();
    else this.#attempt = held;
  }

  /** The shadow limit that would have refused the call; null: none, or not decided yet. */
  get shadowRefusal(): LimitRule | null {
    return this.#shadow?.refusedBy ?? this.#attempt?.shadowRefusal ?? null;
  }

  /** The call was sent. `tokens`: used by all its attempts. */
  settle(tokens: number): boolean {
    return this.#end(tokens);
  }

  /** Nothing was sent: everything is given back, including the request. */
  release(): boolean {
    return this.#end(null);
  }

  /** Money that is held for the call on each of its budgets; Infinity if it has none. */
  get held(): NanoUsd {
    const held = this.#reserved?.held ?? Number.POSITIVE_INFINITY;
    return this.#attempt === null ? held : Math.min(held, this.#attempt.held);
  }

  /** Holds up to `amount` more, and at least `least`. Returns how much; 0 if less is left. */
  topUp(amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd> {
    const attempt = this.#attempt;
    if (attempt === null) return this.#topUp(amount, least);
    const more = this.#topUp(amount, least);
    const both = (got: NanoUsd): NanoUsd | Promise<NanoUsd> => (got > 0 ? attempt.topUp(got, least) : 0);
    return more instanceof Promise ? more.then(both) : both(more);
  }

  #topUp(amount: NanoUsd, least: NanoUsd): NanoUsd | Promise<NanoUsd> {
    if (this.#reserved === null) return amount;
    if (this.#ended) return 0;
    return this.#owner.topUp(this.#rules, this.#reserved.ticket, Math.ceil(amount), Math.ceil(least));
  }

  /** The limit of this name with the least left; null: the caller has none. */
  tightestRate(name: "rpm" | "tpm"): LimitHeader | null {
    return this.#reserved === null ? null : tightestRate(this.#rules, this.#reserved.states, name);
  }

  /** The budget of which the most is spent; null: there is none, or its spending is unknown. */
  tightestBudget(nowMs: number): SpentBudget | null {
    let tightest: SpentBudget | null = null;
    for (const [index, rule] of this.#rules.entries()) {
      const state = this.#reserved?.states[index];
      if (rule.name !== "budget" || state === undefined || state.limit <= 0) continue;
      const share = Math.min(1, Math.max(0, state.used - (state.held ?? 0)) / state.limit);
      if (tightest !== null && share <= tightest.share) continue;
      tightest = { share, resetsAt: rule.limitUsage(state, nowMs).resetsAt };
    }
    const ofAttempt = this.#attempt?.tightestBudget(nowMs) ?? null;
    return ofAttempt !== null && ofAttempt.share > (tightest?.share ?? -1) ? ofAttempt : tightest;
  }

  /** `tokens` null: nothing was sent. */
  #end(tokens: number | null): boolean {
    if (this.#ended) {
      this.#owner.repeated();
      return false;
    }
    this.#ended = true;
    if (tokens === null) this.#attempt?.release();
    else this.#attempt?.settle(tokens);
    this.#attempt = null;
    this.#shadow?.end(tokens);
    if (this.#reserved !== null) this.#owner.settle(this.#reserved.ticket, actualUse(this.#rules, tokens));
    return true;
  }
}

/** `states`: of the rules, in their order. */
export function tightestRate(
  rules: readonly LimitRule[],
  states: readonly LimitHeader[],
  name: "rpm" | "tpm",
): LimitHeader | null {
  let tightest: LimitHeader | null = null;
  for (let index = 0; index < rules.length; index++) {
    const state = states[index];
    if (rules[index]?.name !== name || state === undefined) continue;
    if (tightest === null || state.limit - state.used < tightest.limit - tightest.used) tightest = state;
  }
  return tightest;
}
