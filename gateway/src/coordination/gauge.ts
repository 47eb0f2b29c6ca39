import type { Claim, ClaimState } from "#ports/index.ts";
import { Share, type Tally } from "./tally.ts";

/** Amount held at once. It is freed by settling, whatever was really used. */
export class Gauge implements Tally {
  holds = 0;
  #used = 0;

  take(claim: Claim): Share | null {
    if (!(this.#used + claim.amount <= claim.limit)) return null;
    this.#used += claim.amount;
    return new Share(this, claim, claim.amount, { mark: 0, used: this.#used, freeInMs: 0 });
  }

  settle(share: Share): void {
    this.#used -= share.amount;
  }

  state(claim: Claim): ClaimState {
    return { used: this.#used, limit: claim.limit, freeInMs: 0 };
  }

  atRest(): boolean {
    return this.#used === 0;
  }
}
