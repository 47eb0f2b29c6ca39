import { actualUse, type LimitRule } from "./limit-rule.ts";

type Settle = (ticket: object, actual: readonly number[]) => void;

/**
 * A reservation in the shadow limits of a call. They count as if they refused calls: a call that one of them would have refused takes
 * nothing from any. The answer of a shared counter may arrive while the call runs, or after its end.
 */
export class ShadowTrial {
  readonly #settle: Settle;
  readonly #rules: readonly LimitRule[];
  #ticket: object | null = null;
  /** Tokens of the call; null: nothing was sent; undefined: it runs. */
  #tokens: number | null | undefined;
  #refusedBy: LimitRule | null = null;

  constructor(settle: Settle, rules: readonly LimitRule[]) {
    this.#settle = settle;
    this.#rules = rules;
  }

  get refusedBy(): LimitRule | null {
    return this.#refusedBy;
  }

  get isOver(): boolean {
    return this.#tokens !== undefined;
  }

  granted(ticket: object): void {
    this.#ticket = ticket;
    this.#settleEnded();
  }

  refused(rule: LimitRule): void {
    this.#refusedBy = rule;
  }

  end(tokens: number | null): void {
    this.#tokens = tokens;
    this.#settleEnded();
  }

  #settleEnded(): void {
    if (this.#ticket === null || this.#tokens === undefined) return;
    this.#settle(this.#ticket, actualUse(this.#rules, this.#tokens));
  }
}
