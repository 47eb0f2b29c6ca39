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
  /** The reservation in the hands of whoever made it; to be given to `settle`. */
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
   * period (see `begin`). `full`: the counter has no room for one more. `unreachable`: a shared counter does not answer,
   * and this claim says `fail: closed`.
   */
  readonly reason: "limit" | "unknown" | "full" | "unreachable";
}

/**
 * What is known of a budget's earlier spending in a period: all of it, nothing yet (it has to be told with `known`), or it
 * cannot be counted because there is no room, or because a shared counter does not answer. `behind`: what another process has
 * settled reaches the ledger so late that it cannot be read now.
 */
export type Meeting = "known" | "unknown" | "full" | "unreachable" | "behind";

/**
 * Counts what limits need. `reserve` takes all claims or none, in one atomic step. An implementation in memory answers at
 * once, a shared one with a promise. A shared one does not throw from `reserve`: when it cannot be reached, each claim's
 * `fail` decides.
 *
 * What is used of a budget is what the ledger says was spent (`known` once, then `spend` for each entry), plus what
 * reservations hold. A counter may forget a budget that holds nothing. The next claim on it is then `unknown`, and the
 * ledger is asked again.
 */
export interface Counter {
  /**
   * `id` names the reservation to every process (a request's id, a task's): to a shared counter the same id again is the same
   * reservation, however often it is asked for. Left out, the counter makes one. A counter of one process has no use for it.
   * `isCall`: it ends in this process, so a shared counter may take it from what it has leased to this process, and no other
   * process knows its id.
   */
  reserve(claims: readonly Claim[], id?: string, isCall?: boolean): Reserved | Refused | Promise<Reserved | Refused>;
  /**
   * Holds more money for a reservation, in each of its budgets: `amount`, or what is left if that is at least `least`.
   * Resolves to how much was held; 0 when it does not fit, when the reservation has ended, and while what one of its budgets has
   * spent is not known, unless that one's `fail` is open.
   */
  topUp(ticket: object, amount: number, least: number): number | Promise<number>;
  /**
   * Ends a reservation: what `actual[i]` is less than claim i had reserved of a window is taken off there, what it is more counts as
   * of now; what gauges and budgets held is freed.
   * A second call with the same ticket does nothing.
   */
  settle(ticket: object, actual: readonly number[]): void | Promise<void>;
  /**
   * Starts to count what is spent of a budget in this period, and says whether the earlier spending is known. `anew`: it is
   * read now, so what was counted so far is dropped where it is not known, because `known` will include it.
   */
  begin(key: string, periodStart: number, anew?: boolean): Meeting | Promise<Meeting>;
  /** Gives what a budget had spent in a period when it was read. Does nothing where that is known already. */
  known(key: string, periodStart: number, spent: Spending): void | Promise<void>;
  /**
   * Adds the cost of a ledger entry. What the reading held already is told apart by the attempt. False: the counter does not
   * count this budget and needs no further costs of it.
   */
  spend(key: string, periodStart: number, cost: AttemptCost): boolean | Promise<boolean>;
  /** Adds to a window what happened before this counter existed (before a restart). `at` is Unix milliseconds. */
  seed(key: string, amount: number, at: number, windowMs: number): void | Promise<void>;
  /** The state of a claim without taking anything. */
  peek(claim: Claim): ClaimState | Promise<ClaimState>;
  /** What a shared counter's answers of the last moments tell of a claim, without asking; null: nothing. */
  glance?(claim: Claim): ClaimState | null;
  /** What these budgets have spent in these periods is to be read anew: entries came into the ledger that nobody told of. */
  reread(periods: readonly BudgetPeriodKey[]): void | Promise<void>;
  /** Reservations not yet settled; 0 at rest. */
  readonly outstanding: number;
  /** Only of a counter that several processes share. */
  readonly shared?: SharedParts;
}

export interface BudgetPeriodKey {
  readonly key: string;
  readonly periodStart: number;
}

/** What a counter knows that outlives the processes which share it. Everything waits where it is away. */
export interface SharedParts {
  /** Like `reserve`, but it belongs to no process, and holds until it is ended. */
  hold(id: string, claims: readonly Claim[]): Promise<Reserved | Refused>;
  /** Ends it, whoever took it. False: it had ended before. */
  endHold(id: string): Promise<boolean>;
  /** Some that hold; none while the counter is away. */
  someHolds(count: number): Promise<readonly LastingHold[]>;
  /**
   * All that this process (`proc_…`) settled and left open is in the ledger: the money that it held is freed. `storedAgoMs`:
   * milliseconds since its last new entry was stored; null when none was new.
   */
  adopted(owner: string, storedAgoMs: number | null): Promise<void>;
  /**
   * How long ago, in milliseconds of the ledger's clock with all its steps, the first entry may have been settled that was not in the
   * ledger when `begin` was last asked.
   */
  readonly ledgerLagMs: number;
}

/** `ageMs`: since it was taken, by the counter's clock. */
export interface LastingHold {
  readonly id: string;
  readonly ageMs: number;
}

/** What one attempt cost. */
export interface AttemptCost {
  readonly attemptId: string;
  readonly amount: number;
}

/**
 * A reading of the ledger. `recent`: the latest entries in `amount`, some of which `spend` was or will be told of too.
 * `cleanFrom`: in periods that begin then or later, nothing was spent. `again`: it can be asked again, so the counter may
 * forget it.
 */
export interface Spending {
  readonly amount: number;
  readonly recent: readonly AttemptCost[];
  readonly cleanFrom: number;
  readonly again: boolean;
}

/** How often something may be tried within a window, which begins with the first try. Times in milliseconds. */
export interface TryRule {
  /** What is tried: keys of different rules have nothing to do with each other. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
  /** A window that was used up is followed by one twice as long, up to this. */
  readonly windowMsMax: number;
}

/**
 * Tries at something secret, counted by key (an account, an address). Where processes share a database they count together.
 * Whatever is tried stands in that database too, so each rejects where it cannot be asked: nothing is tried uncounted.
 */
export interface Tries {
  /** Counts one try against each key; or, when one of them has to wait, against none. */
  take(keys: readonly string[]): Promise<TakenTry>;
  /** Takes back one try that turned out well, or was none. */
  giveBack(keys: readonly string[]): Promise<void>;
  forget(key: string): Promise<void>;
}

export interface TakenTry {
  /** 0: it was counted. Else when there is room again. */
  readonly waitMs: number;
  /** It was counted, and is the last one that some key had in its window. */
  readonly isLast: boolean;
}

export type OpenTries = (rule: TryRule) => Tries;

/**
 * Shares the health of deployments between replicas. Reads are local and immediate. Writes reach the others soon.
 * Times are milliseconds of the monotonic clock of this process.
 */
export interface HealthBoard {
  /** Nothing cools, so that none need be asked after. */
  readonly quiet: boolean;
  /** When the deployment may be tried again; 0: now. */
  coolingUntil(deploymentId: string): number;
  cool(deploymentId: string, untilMs: number, reason: string): void;
  clear(deploymentId: string): void;
}
