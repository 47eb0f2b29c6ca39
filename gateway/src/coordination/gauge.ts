import type { Claim, ClaimState } from "#ports/index.ts";
import { Share, type Tally } from "./tally.ts";

/** The amount held by running calls. Settling releases the whole hold. */
export class Gauge implements Tally {
  holds = 0;
  #used = 0;

  take(claim: Claim): Share | null {
    return this.add(claim.amount, claim.limit) ? new Share(this, claim, claim.amount, 0, this.#used, 0) : null;
  }

  settle(share: Share): void {
    this.subtract(share.amount);
  }

  /** False, and nothing is added, if the amount does not fit. */
  add(amount: number, limit: number): boolean {
    if (!(this.#used + amount <= limit)) return false;
    this.#used += amount;
    return true;
  }

  subtract(amount: number): void {
    this.#used -= amount;
  }

  state(claim: Claim): ClaimState {
    return { used: this.#used, limit: claim.limit, freeInMs: 0 };
  }

  isIdle(): boolean {
    return this.#used === 0;
  }
}
