import type { Claim, ClaimState } from "#ports/index.ts";
import { Share, type Tally } from "./tally.ts";

/**
 * Amount since the start of a period. The counter does not know when a period ends, so `freeInMs` is 0: whoever made the
 * claim knows. A budget that is used up refuses even an amount of 0, because what a call will cost is only estimated.
 */
export class Budget implements Tally {
  holds = 0;
  #used = 0;
  #periodStart: number;

  constructor(periodStart: number) {
    this.#periodStart = periodStart;
  }

  take(claim: Claim): Share | null {
    this.#roll(claim.periodStart);
    if (this.#used >= claim.limit || !(this.#used + claim.amount <= claim.limit)) return null;
    this.#used += claim.amount;
    return new Share(this, claim, this.#periodStart, this.#used, 0);
  }

  /** What was reserved in a period that is over stays with that period. */
  settle(share: Share, actual: number): void {
    if (share.mark === this.#periodStart) this.#used += actual - share.amount;
  }

  state(claim: Claim): ClaimState {
    const used = claim.periodStart > this.#periodStart ? 0 : this.#used;
    return { used, limit: claim.limit, freeInMs: 0 };
  }

  seed(amount: number, periodStart: number): void {
    this.#roll(periodStart);
    if (periodStart === this.#periodStart) this.#used += amount;
  }

  raise(amount: number, periodStart: number): void {
    this.#roll(periodStart);
    if (periodStart === this.#periodStart) this.#used = Math.max(this.#used, amount);
  }

  atRest(): boolean {
    return this.#used === 0;
  }

  /** Only forwards: a wall clock set back over midnight must not give yesterday's budget anew. */
  #roll(periodStart: number): void {
    if (periodStart <= this.#periodStart) return;
    this.#periodStart = periodStart;
    this.#used = 0;
  }
}
