import type { Claim, ClaimState } from "#ports/index.ts";

/**
 * The final amount of a claim: `actual[index]`, or `reserved` if that is missing or invalid, so that a caller's mistake gives no free
 * quota.
 */
export function settledAmount(actual: readonly number[], index: number, reserved: number): number {
  const amount = actual[index] ?? Number.NaN;
  return Number.isFinite(amount) && amount >= 0 ? amount : reserved;
}

/** One counted thing. Times are monotonic milliseconds. Amounts are whole numbers ≥ 0, so that sums stay exact. */
export interface Tally {
  /** Reservations that hold a share of it. It is not evicted while there are any. */
  holds: number;
  /** Takes the claim's amount, or `amount` of a budget; null, and nothing is taken, if it does not fit. NaN never fits. */
  take(claim: Claim, atMs: number, amount?: number): Share | null;
  settle(share: Share, actual: number, atMs: number): void;
  state(claim: Claim, atMs: number): ClaimState;
  /** True when evicting it would lose nothing. `pressed`: the table is full. */
  isIdle(atMs: number, pressed: boolean): boolean;
}

/** The amount that a reservation took of a tally, and the tally's state right after. */
export class Share implements ClaimState {
  readonly tally: Tally;
  /** Grows when a reservation of money is topped up. */
  amount: number;
  /** The bucket of a window or the period of a budget that the amount went to. */
  readonly mark: number;
  readonly used: number;
  readonly limit: number;
  readonly freeInMs: number;
  /** The limit has `fail: open`. */
  readonly isOpen: boolean;

  constructor(tally: Tally, claim: Claim, amount: number, mark: number, used: number, freeInMs: number) {
    this.tally = tally;
    this.amount = amount;
    this.mark = mark;
    this.used = used;
    this.limit = claim.limit;
    this.isOpen = claim.fail === "open";
    this.freeInMs = freeInMs;
  }
}

/** Used with `fail: open` when there is no room for a tally: admits everything and counts nothing. */
export const unlimitedTally: Tally = {
  holds: 0,
  take: (claim) => new Share(unlimitedTally, claim, claim.amount, 0, 0, 0),
  settle: () => undefined,
  state: (claim) => ({ used: 0, limit: claim.limit, freeInMs: 0 }),
  isIdle: () => false,
};
