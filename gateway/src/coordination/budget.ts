import { bounds } from "#core/index.ts";
import type { AttemptCost, Claim, ClaimState, Spending } from "#ports/index.ts";
import { RollingBuckets } from "./rolling-buckets.ts";
import { Share, type Tally } from "./tally.ts";

/** A budget that was unused for this long is evicted; the ledger has its spending. */
export const budgetIdleMs = 3_600_000;
/** Like `budgetIdleMs`, while the table is full. */
const budgetIdleMsWhenFull = 5_000;
/** The current period and earlier ones, for a clock that is set back. */
const budgetPeriodsMax = 4;

/** One period of a budget. */
interface Period {
  readonly start: number;
  spent: number;
  held: number;
  /** `spent` includes the spending read from the ledger. */
  isLoaded: boolean;
  /** Attempts whose cost was counted since the current reading of the ledger began; null: none is under way. */
  countedSinceRead: Set<string> | null;
  /** Attempts that were in a reading before `spend` reported them, and when they were noted. */
  readAhead: Map<string, number> | null;
  /** null: not a rolling window. */
  readonly buckets: RollingBuckets | null;
}

/**
 * Money since the start of a period, or in a rolling window: spent, and held by reservations. The counter does not know when a period
 * ends, so `freeInMs` is 0. A budget that is used up refuses even an amount of 0, because the cost of a call is only an estimate.
 */
export class Budget implements Tally {
  holds = 0;
  /** Most recently used first. */
  readonly #periods: Period[] = [];
  /** In periods that begin then or later, all spending was counted here. */
  #cleanFrom = Number.POSITIVE_INFINITY;
  #isRereadable = false;
  #usedMs: number;

  constructor(atMs: number) {
    this.#usedMs = atMs;
  }

  take(claim: Claim, atMs: number, amount: number = claim.amount): Share | null {
    const period = this.#hold(claim.periodStart, claim.limit, claim.rollingFrom, amount, atMs);
    return period === null ? null : new Share(this, claim, amount, period.start, period.spent + period.held, 0);
  }

  /** Releases the hold. The cost itself is reported with `spend`. */
  settle(share: Share, _actual: number): void {
    this.extend(share.mark, -share.amount);
  }

  /** Like `take`, without a share. The other parameters are members of a claim. */
  hold(periodStart: number, limit: number, from: number | undefined, amount: number, atMs: number): boolean {
    return this.#hold(periodStart, limit, from, amount, atMs) !== null;
  }

  #hold(periodStart: number, limit: number, from: number | undefined, amount: number, atMs: number): Period | null {
    const unchecked = limit === Number.POSITIVE_INFINITY;
    const period = this.#find(periodStart) ?? (unchecked ? this.#add(periodStart, false) : null);
    if (period === null) return null;
    this.#usedMs = atMs;
    roll(period, from);
    const used = period.spent + period.held;
    if (!unchecked && (!period.isLoaded || used >= limit || !(used + amount <= limit))) return null;
    period.held += amount;
    return period;
  }

  /** Adds to what is held in a period. */
  extend(periodStart: number, amount: number): void {
    const period = this.#find(periodStart);
    if (period !== null) period.held += amount;
  }

  /** The amount that this claim could still get. */
  room({ periodStart, limit, rollingFrom }: Pick<Claim, "periodStart" | "limit" | "rollingFrom">): number {
    const period = this.#find(periodStart);
    if (period === null || !period.isLoaded) return 0;
    roll(period, rollingFrom);
    return limit - period.spent - period.held;
  }

  /** The amount that an existing share could still get; 0 while the spending is not loaded, unless the limit has `fail: open`. */
  roomOf({ mark, limit, isOpen }: Pick<Share, "mark" | "limit" | "isOpen">): number {
    const period = this.#find(mark);
    if (period === null) return 0;
    const counts = period.isLoaded || isOpen || limit === Number.POSITIVE_INFINITY;
    return counts ? limit - period.spent - period.held : 0;
  }

  topUp(share: Share, amount: number): void {
    if (this.#find(share.mark) === null) return;
    this.extend(share.mark, amount);
    share.amount += amount;
  }

  begin(periodStart: number, anew: boolean, atMs: number): void {
    this.#usedMs = atMs;
    const period = this.#find(periodStart) ?? this.#add(periodStart, false);
    if (period.isLoaded) return;
    if (anew) {
      period.spent = 0;
      period.buckets?.clear();
    }
    if (anew || period.countedSinceRead === null) period.countedSinceRead = new Set();
  }

  load(periodStart: number, { amount, buckets, recent, cleanFrom, again }: Spending, atMs: number): void {
    const period = this.#find(periodStart);
    // The period was invalidated while it was read, so it has to be read again.
    if (period === null || period.isLoaded || period.countedSinceRead === null) return;
    if (period.buckets === null) period.spent += amount;
    for (const [bucket, spent] of buckets ?? []) addCost(period, { amount: spent, bucket });
    for (const cost of recent) {
      if (period.countedSinceRead.has(cost.attemptId)) addCost(period, { ...cost, amount: -cost.amount });
      else noteReadAhead(period, cost.attemptId, atMs);
    }
    period.countedSinceRead = null;
    period.isLoaded = true;
    this.#isRereadable = again;
    this.#cleanFrom = Math.min(this.#cleanFrom, cleanFrom);
  }

  /** Like `spend`, for a cost that no reading of the ledger can include. `bucket`: of a rolling window. */
  add(periodStart: number, amount: number, bucket?: number): void {
    const period = this.#find(periodStart);
    if (period !== null) addCost(period, bucket === undefined ? { amount } : { amount, bucket });
  }

  spend(periodStart: number, cost: AttemptCost): void {
    const period = this.#find(periodStart);
    if (period === null || period.readAhead?.delete(cost.attemptId) === true) return;
    addCost(period, cost);
    period.countedSinceRead?.add(cost.attemptId);
  }

  reread(periodStart: number): void {
    const period = this.#periods.find(({ start }) => start === periodStart);
    if (period === undefined) return;
    period.isLoaded = false;
    period.countedSinceRead = null;
  }

  state(claim: Claim): ClaimState {
    const period = this.#find(claim.periodStart);
    if (period !== null) roll(period, claim.rollingFrom);
    const held = period?.held ?? 0;
    const used = held + (period?.spent ?? 0);
    const freeInMs = period?.buckets?.freeInMs(claim, used) ?? 0;
    return { used, limit: claim.limit, freeInMs, held };
  }

  isLoaded(periodStart: number): boolean {
    return this.#find(periodStart)?.isLoaded ?? false;
  }

  /** Called only when nothing is held. A budget that was loaded just now is about to get a claim. */
  isIdle(atMs: number, pressed: boolean): boolean {
    if (!this.#isRereadable && this.#periods.some(({ spent, isLoaded }) => !isLoaded || spent > 0)) return false;
    return atMs - this.#usedMs > (pressed ? budgetIdleMsWhenFull : budgetIdleMs);
  }

  #find(start: number): Period | null {
    for (const period of this.#periods) if (period.start === start) return period;
    return start >= this.#cleanFrom ? this.#add(start, true) : null;
  }

  #add(start: number, isLoaded: boolean): Period {
    const buckets = start < 0 ? new RollingBuckets() : null;
    const period: Period = { start, spent: 0, held: 0, isLoaded, countedSinceRead: null, readAhead: null, buckets };
    this.#periods.unshift(period);
    if (this.#periods.length > budgetPeriodsMax) this.#forgetOldest();
    return period;
  }

  /** An evicted period has to be read again if it returns, so `#cleanFrom` moves past it. */
  #forgetOldest(): void {
    let oldest = -1;
    this.#periods.forEach((period, index) => {
      if (index === 0 || period.held > 0) return;
      if (oldest === -1 || period.start < (this.#periods[oldest]?.start ?? 0)) oldest = index;
    });
    const [gone] = oldest === -1 ? [] : this.#periods.splice(oldest, 1);
    if (gone !== undefined) this.#cleanFrom = Math.max(this.#cleanFrom, gone.start + 1);
  }
}

/** Drops the spending that has left a rolling window. */
function roll(period: Period, rollingFrom: number | undefined): void {
  if (period.buckets !== null && rollingFrom !== undefined) period.spent -= period.buckets.dropBefore(rollingFrom);
}

function addCost(period: Period, { amount, bucket }: Pick<AttemptCost, "amount" | "bucket">): void {
  if (period.buckets === null) period.spent += amount;
  else if (bucket !== undefined && period.buckets.add(bucket, amount)) period.spent += amount;
}

/** `spend` reports these within a moment, if ever; older ones are dropped. */
function noteReadAhead(period: Period, attemptId: string, atMs: number): void {
  period.readAhead ??= new Map();
  period.readAhead.set(attemptId, atMs);
  for (const [oldest, notedMs] of period.readAhead) {
    if (atMs - notedMs < bounds.budgetReadSlackMs && period.readAhead.size <= bounds.budgetReadEntriesMax) break;
    period.readAhead.delete(oldest);
  }
}
