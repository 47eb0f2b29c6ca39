import type { FailMode } from "#core/index.ts";

/**
 * One limit that a call takes a share of.
 * `window`: amount within any `windowMs` (rates). `gauge`: amount held at once (concurrency).
 * `budget`: money spent or held in the period that began at `periodStart` (Unix milliseconds). A rolling budget has no periods: its
 * `periodStart` is the negative length of its window in milliseconds.
 */
export interface Claim {
  readonly kind: "window" | "gauge" | "budget";
  readonly key: string;
  /** Infinity: always granted, because it was granted before. */
  readonly limit: number;
  readonly amount: number;
  /** For a budget with less than `amount` left, the minimum to take. For others: `amount`. */
  readonly least: number;
  /** Of a rolling budget: the length of its buckets. */
  readonly windowMs: number;
  readonly periodStart: number;
  /** Only of a rolling budget: when the oldest bucket that counts now began, in Unix milliseconds. */
  readonly rollingFrom?: number;
  readonly fail: FailMode;
}

/**
 * A claim after the reservation. `freeInMs`: milliseconds until some of it is free again; 0 for a gauge and a
 * budget. Of a rolling budget: from the start of the running bucket until enough is free for the claim. `held`: the part of a budget's
 * `used` that is reserved but not spent.
 */
export interface ClaimState {
  readonly used: number;
  readonly limit: number;
  readonly freeInMs: number;
  readonly held?: number;
}

export interface Reserved {
  readonly granted: true;
  /** Pass it to `topUp` and `settle`. */
  readonly ticket: object;
  readonly states: readonly ClaimState[];
  /** The amount that each budget among the claims holds for this reservation. Infinity if there is no budget. */
  readonly held: number;
}

export interface Refused {
  readonly granted: false;
  /** The index of the claim that did not fit. No claim was taken. */
  readonly index: number;
  readonly state: ClaimState;
  /**
   * `limit`: the amount does not fit. `unknown`: the budget's spending in this period is not loaded (see `beginPeriod`). `full`: the
   * counter has no room for another tally. `unreachable`: a shared counter does not answer, and this claim has `fail: closed`.
   */
  readonly reason: "limit" | "unknown" | "full" | "unreachable";
}

/**
 * Whether a budget's earlier spending in a period is loaded. `unknown`: call `setSpending`. `full`: there is no room to count it.
 * `unreachable`: Redis does not answer. `behind`: another process's settlements reach the ledger too late to read it now.
 */
export type SpendingStatus = "known" | "unknown" | "full" | "unreachable" | "behind";

/**
 * Counts what limits need. `reserve` takes all claims or none, atomically, and does not reject when a shared counter is unreachable:
 * each claim's `fail` decides then.
 *
 * A budget's usage is its spending in the ledger (`setSpending` once, then `spend` for each entry) plus what reservations hold. A
 * counter may evict a budget that holds nothing; the next claim on it is `unknown`, and the ledger is read again.
 */
export interface Counter {
  /**
   * `id`: makes repeated calls idempotent in a shared counter, across processes. Default: a new id.
   * `isCall`: it ends in this process, so a shared counter may take it from this process's shares.
   */
  reserve(claims: readonly Claim[], id?: string, isCall?: boolean): Reserved | Refused | Promise<Reserved | Refused>;
  /**
   * Holds more money in each budget of a reservation: `amount`, or what is left if that is at least `least`. Resolves to the amount
   * held; 0 when it does not fit, when the reservation has ended, and while the spending of a budget is unknown, unless it fails open.
   */
  topUp(ticket: object, amount: number, least: number): number | Promise<number>;
  /**
   * Ends a reservation. Windows: if `actual[i]` is less than reserved, the rest is subtracted where it was counted; an excess counts
   * as of now. Gauges and budgets: everything held is released. A second call with the same ticket does nothing.
   */
  settle(ticket: object, actual: readonly number[]): void | Promise<void>;
  /**
   * Starts to count a budget's spending in this period. `anew`: a reading of the ledger begins now, so if the earlier spending is
   * unknown, what was counted so far is dropped, because `setSpending` will include it.
   */
  beginPeriod(key: string, periodStart: number, anew?: boolean): SpendingStatus | Promise<SpendingStatus>;
  /** Sets what a budget had spent in a period when the ledger was read. Does nothing if it is loaded. */
  setSpending(key: string, periodStart: number, spent: Spending): void | Promise<void>;
  /**
   * Adds the cost of a ledger entry, unless the reading included that attempt. False: the counter does not count this budget and
   * needs no further costs of it.
   */
  spend(key: string, periodStart: number, cost: AttemptCost): boolean | Promise<boolean>;
  /** Adds usage from before a restart to a window. `at`: Unix milliseconds. */
  seed(key: string, amount: number, at: number, windowMs: number): void | Promise<void>;
  /** The state of a claim without taking anything. */
  peek(claim: Claim): ClaimState | Promise<ClaimState>;
  /** A shared counter's recent state of a claim, without a request; null: none. */
  recentState?(claim: Claim): ClaimState | null;
  /** Entries were added to the ledger without `spend`: the spending of these budgets has to be read again. */
  invalidateSpending(periods: readonly BudgetPeriodKey[]): void | Promise<void>;
  /** Reservations not yet settled; 0 at rest. */
  readonly outstanding: number;
  /** Only of a counter that several processes share. */
  readonly shared?: SharedHolds;
}

export interface BudgetPeriodKey {
  readonly key: string;
  readonly periodStart: number;
}

/** Holds that outlive the processes which share the counter. While Redis is down, calls wait. */
export interface SharedHolds {
  /** Like `reserve`, but independent of this process until `endHold`. */
  hold(id: string, claims: readonly Claim[]): Promise<Reserved | Refused>;
  /** False: it had ended before. */
  endHold(id: string): Promise<boolean>;
  /** A random sample of holds; empty while Redis is down. */
  sampleHolds(count: number): Promise<readonly SharedHold[]>;
  /** Keys of counted budgets of these scopes, such as `workspace:ws_1`. Empty while Redis is down. */
  budgetKeys(scopes: readonly string[]): Promise<readonly string[]>;
  /**
   * Releases the money held by a dead process (`proc_…`), after its journal was stored in the ledger. `storedAgoMs`: milliseconds
   * since its last new entry was stored; null: none was new.
   */
  releaseOwner(owner: string, storedAgoMs: number | null): Promise<void>;
  /**
   * Entries settled within this many milliseconds may have been missing from the ledger at the last `beginPeriod`. Includes steps of
   * the ledger's clock.
   */
  readonly ledgerLagMs: number;
}

/** `ageMs`: by the counter's clock. */
export interface SharedHold {
  readonly id: string;
  readonly ageMs: number;
}

/** The cost of one attempt. `bucket`: when its bucket began, for a rolling budget. */
export interface AttemptCost {
  readonly attemptId: string;
  readonly amount: number;
  readonly bucket?: number;
}

/**
 * A reading of the ledger. `recent`: the latest entries in `amount`, some of which are passed to `spend` too. `cleanFrom`: nothing was
 * spent in periods that begin then or later. `again`: it can be read again, so the counter may evict it.
 */
export interface Spending {
  readonly amount: number;
  /** The parts of `amount` by the start of their bucket, for a rolling budget. */
  readonly buckets?: readonly (readonly [bucket: number, amount: number])[];
  readonly recent: readonly AttemptCost[];
  readonly cleanFrom: number;
  readonly again: boolean;
}

/** How often something may be tried within a window, which begins with the first try. Times in milliseconds. */
export interface TryRule {
  /** The kind of attempt, such as a password. Keys of different kinds are counted separately. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
  /** After a used-up window the next one is twice as long, up to this. */
  readonly windowMsMax: number;
}

/** Counts tries at secrets by key (an account, an address). Rejects if the database is unavailable, so that no try is uncounted. */
export interface Tries {
  /** Counts one try for each key, or for none if one of them has to wait. */
  take(keys: readonly string[]): Promise<TryResult>;
  /** Uncounts a try that succeeded. */
  giveBack(keys: readonly string[]): Promise<void>;
  forget(key: string): Promise<void>;
}

export interface TryResult {
  /** 0: the try was counted. */
  readonly waitMs: number;
  /** It was counted, and used up the window of a key. */
  readonly isLast: boolean;
}

export type OpenTries = (rule: TryRule) => Tries;
