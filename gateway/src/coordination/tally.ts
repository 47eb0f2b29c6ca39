import type { Claim, ClaimState } from "#ports/index.ts";

/** One counted thing. Times are monotonic milliseconds. Amounts are whole numbers ≥ 0, so that sums stay exact. */
export interface Tally {
  /** Reservations that still hold a share of it. While there are any it must not be forgotten. */
  holds: number;
  /** Takes the claim's amount (a budget may be told another), or nothing and null. An amount that is no number never fits. */
  take(claim: Claim, atMs: number, amount?: number): Share | null;
  /** The share has ended, and used `actual`. */
  settle(share: Share, actual: number, atMs: number): void;
  state(claim: Claim, atMs: number): ClaimState;
  /** True when forgetting it would lose nothing. `pressed`: others find no room. */
  atRest(atMs: number, pressed: boolean): boolean;
}

/** Where a share went and how its tally stood right after. */
export interface Taken {
  /** Which part of the tally the amount went to: the bucket of a window, the period of a budget. */
  readonly mark: number;
  readonly used: number;
  readonly freeInMs: number;
}

/** What one reservation took of one tally, and how the tally stood right after. */
export class Share implements ClaimState {
  readonly tally: Tally;
  /** Grows when a reservation of money is topped up. */
  amount: number;
  readonly mark: number;
  readonly used: number;
  readonly limit: number;
  readonly freeInMs: number;
  /** Its limit lets calls through when it cannot be counted. */
  readonly isOpen: boolean;

  constructor(tally: Tally, claim: Claim, amount: number, { mark, used, freeInMs }: Taken) {
    this.tally = tally;
    this.amount = amount;
    this.mark = mark;
    this.used = used;
    this.limit = claim.limit;
    this.isOpen = claim.fail === "open";
    this.freeInMs = freeInMs;
  }
}

/** Stands in for a tally there was no room for, when its claim says `fail: open`: lets everything through, counts nothing. */
export const uncounted: Tally = {
  holds: 0,
  take: (claim) => new Share(uncounted, claim, claim.amount, { mark: 0, used: 0, freeInMs: 0 }),
  settle: () => undefined,
  state: (claim) => ({ used: 0, limit: claim.limit, freeInMs: 0 }),
  atRest: () => false,
};
