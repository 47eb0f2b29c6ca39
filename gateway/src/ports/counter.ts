import type { FailMode } from "#core/index.ts";

/**
 * One limit that a call takes a share of.
 * `window`: amount within any `windowMs` (rates). `gauge`: amount held at once (concurrency).
 * `budget`: money of the period that began at `periodStart`, Unix milliseconds: what was spent in it and what is held.
 */
export interface Claim {
  readonly kind: "window" | "gauge" | "budget";
  readonly key: string;
  /** Infinity: the amount is always taken, because it was granted before. */
  readonly limit: number;
  readonly amount: number;
  /** Of a budget: if less than `amount` is left, the rest is taken, but not less than this. Of others: the amount itself. */
  readonly least: number;
  readonly windowMs: number;
  readonly periodStart: number;
  readonly fail: FailMode;
}

/**
 * A claim after the reservation. `freeInMs`: in how many milliseconds some of it is free again; 0 for a gauge. `held`: the
 * part of a budget's `used` that is reserved and not spent yet.
 */
export interface ClaimState {
  readonly used: number;
  readonly limit: number;
  readonly freeInMs: number;
  readonly held?: number;
}

export interface Reserved {
  readonly granted: true;
  /** To be given to `settle` exactly once. */
  readonly ticket: object;
  readonly states: readonly ClaimState[];
  /** How much each budget among the claims holds for this reservation. Infinity when there is no budget. */
  readonly held: number;
}

export interface Refused {
  readonly granted: false;
  /** The index of the claim that did not fit. No claim was taken. */
  readonly index: number;
  readonly state: ClaimState;
  /**
   * `limit`: it does not fit. `unknown`: the counter does not know, or has forgotten, what this budget spent in this
   * period (see `begin`). `full`: the counter has no room for one more.
   */
  readonly reason: "limit" | "unknown" | "full";
}

/**
 * Counts what limits need. `reserve` takes all claims or none, in one atomic step. An implementation in memory answers at
 * once, a shared one with a promise.
 *
 * What is used of a budget is what the ledger says was spent (`known` once, then `spend` for each entry), plus what
 * reservations hold. A counter may forget a budget that holds nothing. The next claim on it is then `unknown`, and the
 * ledger is asked again.
 */
export interface Counter {
  reserve(claims: readonly Claim[]): Reserved | Refused | Promise<Reserved | Refused>;
  /**
   * Holds more money for a reservation, in each of its budgets: `amount`, or what is left if that is at least `least`.
   * Resolves to how much was held; 0 when it does not fit or the reservation has ended.
   */
  topUp(ticket: object, amount: number, least: number): number | Promise<number>;
  /**
   * Ends a reservation: `actual[i]` replaces what claim i had reserved of a window; what gauges and budgets held is freed.
   * A second call with the same ticket does nothing.
   */
  settle(ticket: object, actual: readonly number[]): void | Promise<void>;
  /**
   * Starts to count what is spent of a budget in this period. The answer says whether the earlier spending is known, still
   * has to be given with `known`, or cannot be counted because there is no room. `anew`: while the earlier spending is not
   * known, what was counted so far is dropped, because `known` will include it.
   */
  begin(key: string, periodStart: number, anew?: boolean): "known" | "unknown" | "full";
  /**
   * Gives what a budget had spent in a period when `begin` was called. `cleanFrom`: in periods that begin then or later,
   * nothing was spent. `again`: it can be asked again, so the counter may forget it.
   */
  known(key: string, periodStart: number, spent: Spending): void;
  /** Adds the cost of a ledger entry. False: the counter does not count this budget and needs no further costs of it. */
  spend(key: string, periodStart: number, amount: number): boolean;
  /** Adds to a window what happened before this counter existed (before a restart). `at` is Unix milliseconds. */
  seed(key: string, amount: number, at: number, windowMs: number): void;
  /** The state of a claim without taking anything. */
  peek(claim: Claim): ClaimState | Promise<ClaimState>;
  /** Reservations not yet settled; 0 at rest. */
  readonly outstanding: number;
}

export interface Spending {
  readonly amount: number;
  readonly cleanFrom: number;
  readonly again: boolean;
}
