import type { FailMode } from "#core/index.ts";

/**
 * One thing a call wants a share of.
 * `window`: amount within any `windowMs` (rates). `gauge`: amount held at once (concurrency).
 * `budget`: amount since `periodStart`, Unix milliseconds; a new start is a new budget.
 */
export interface Claim {
  readonly kind: "window" | "gauge" | "budget";
  readonly key: string;
  readonly limit: number;
  readonly amount: number;
  readonly windowMs: number;
  readonly periodStart: number;
  readonly fail: FailMode;
}

/** How a claim stood after the reservation. `freeInMs`: when (some of) what is used frees again; 0 for a gauge. */
export interface ClaimState {
  readonly used: number;
  readonly limit: number;
  readonly freeInMs: number;
}

export interface Reserved {
  readonly granted: true;
  /** Give it back to `settle` exactly once. */
  readonly ticket: object;
  readonly states: readonly ClaimState[];
}

export interface Refused {
  readonly granted: false;
  /** Index of the claim that refused. Nothing was taken from any. */
  readonly index: number;
  readonly state: ClaimState;
}

/**
 * Counts for limits. `reserve` takes all claims or none, atomically; exact under concurrency.
 * In-memory implementations answer at once; shared ones with a promise.
 */
export interface Counter {
  reserve(claims: readonly Claim[]): Reserved | Refused | Promise<Reserved | Refused>;
  /**
   * Ends a reservation: `actual[i]` replaces what claim i had reserved (windows and budgets); gauges are freed.
   * A second call with the same ticket does nothing.
   */
  settle(ticket: object, actual: readonly number[]): void | Promise<void>;
  /** Adds what happened before this counter existed (a restart): `at` is Unix milliseconds. */
  seed(key: string, kind: "window" | "budget", amount: number, at: number, windowMs: number, periodStart: number): void;
  /** A budget has used at least this much since `periodStart`: what was spent while nobody counted it. */
  raise(key: string, amount: number, periodStart: number): void;
  /** The state of a claim without taking anything. */
  peek(claim: Claim): ClaimState | Promise<ClaimState>;
  /** Reservations not yet settled; 0 at rest. */
  readonly outstanding: number;
}
