import type { FailMode } from "#core/index.ts";

/**
 * One thing a call wants a share of.
 * `window`: amount within any `windowMs` (rates). `gauge`: amount held at once (concurrency).
 * `budget`: money of the period that began at `periodStart`, Unix milliseconds: what was spent in it and what is held.
 */
export interface Claim {
  readonly kind: "window" | "gauge" | "budget";
  readonly key: string;
  /** Infinity takes the amount whatever is used: it was granted before. */
  readonly limit: number;
  readonly amount: number;
  /** Of a budget: when `amount` is not left, what is left will do, down to this much. Elsewhere the amount itself. */
  readonly least: number;
  readonly windowMs: number;
  readonly periodStart: number;
  readonly fail: FailMode;
}

/**
 * How a claim stood after the reservation. `freeInMs`: when (some of) what is used frees again; 0 for a gauge. `held`: how
 * much of a budget's `used` is not spent, but reserved.
 */
export interface ClaimState {
  readonly used: number;
  readonly limit: number;
  readonly freeInMs: number;
  readonly held?: number;
}

export interface Reserved {
  readonly granted: true;
  /** Give it back to `settle` exactly once. */
  readonly ticket: object;
  readonly states: readonly ClaimState[];
  /** What every budget among the claims holds now; Infinity when there is none. */
  readonly held: number;
}

export interface Refused {
  readonly granted: false;
  /** Index of the claim that refused. Nothing was taken from any. */
  readonly index: number;
  readonly state: ClaimState;
  /**
   * `limit`: it does not fit. `unknown`: nobody has said yet what this budget spent in this period, or forgot it (see
   * `begin`). `full`: there is no room to count it.
   */
  readonly reason: "limit" | "unknown" | "full";
}

/**
 * Counts for limits. `reserve` takes all claims or none, atomically; exact under concurrency.
 * In-memory implementations answer at once; shared ones with a promise.
 *
 * A budget is what the ledger says was spent (`known` once, `spend` from then on) and what reservations hold. A counter may
 * forget a budget that holds nothing; its next claim is then `unknown`, and the ledger is asked again.
 */
export interface Counter {
  reserve(claims: readonly Claim[]): Reserved | Refused | Promise<Reserved | Refused>;
  /**
   * Holds more money for a reservation, of each of its budgets: `amount`, or what is left down to `least`. Resolves to how
   * much that is, 0 when it does not fit or the reservation has ended.
   */
  topUp(ticket: object, amount: number, least: number): number | Promise<number>;
  /**
   * Ends a reservation: `actual[i]` replaces what claim i had reserved of a window; what gauges and budgets held is freed.
   * A second call with the same ticket does nothing.
   */
  settle(ticket: object, actual: readonly number[]): void | Promise<void>;
  /**
   * From now on what is spent of a budget in this period is counted. Says whether what was spent before is known, or is still
   * to be told; or that there is no room to count it. `anew`: as long as it is not known, what was counted so far is dropped,
   * since it will be in what is told.
   */
  begin(key: string, periodStart: number, anew?: boolean): "known" | "unknown" | "full";
  /**
   * What a budget had spent in a period when `begin` was called. `cleanFrom`: nothing is known to have been spent in periods
   * that begin then or later. `again`: it can be asked again, so that it may be forgotten.
   */
  known(key: string, periodStart: number, spent: Spending): void;
  /** A ledger entry's cost. False when the counter knows nothing of this budget and need not be told again. */
  spend(key: string, periodStart: number, amount: number): boolean;
  /** Adds to a window what happened before this counter existed (a restart): `at` is Unix milliseconds. */
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
