import { bounds } from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";
import { fitsWithoutHolds } from "./budget.ts";

interface RefusedCall {
  readonly at: number;
  /** The least that it asked for, nano-USD. */
  readonly least: number;
  readonly periodStart: number;
}

/**
 * Budgets that refused a call lately: what is left of such a budget may be more than nothing and still too little for the
 * calls that come. Kept by this process for those who look at limits; it decides nothing.
 */
export class RefusedBudgets {
  /** By the key of the claim, the latest at the end. */
  readonly #calls = new Map<string, RefusedCall>();

  note(claim: Claim, nowMs: number): void {
    this.#calls.delete(claim.key);
    this.#calls.set(claim.key, { at: nowMs, least: claim.least, periodStart: claim.periodStart });
    if (this.#calls.size <= bounds.budgetsRefusedMax) return;
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  /** When the budget last refused a call (Unix milliseconds) that it would refuse now too; null: none of late. */
  latest(claim: Claim, state: ClaimState, nowMs: number): number | null {
    const call = claim.kind === "budget" ? this.#calls.get(claim.key) : undefined;
    if (call === undefined || call.periodStart !== claim.periodStart) return null;
    if (nowMs - call.at >= bounds.budgetRefusedMs) return null;
    return fitsWithoutHolds(state, call.least) ? null : call.at;
  }
}
