import { bounds } from "#core/index.ts";
import type { AttemptCost, Claim, ClaimState, Spending } from "#ports/index.ts";
import { Share, type Tally } from "./tally.ts";

/** A budget that was unused for this long is forgotten; the ledger has it. The second value holds while the table is full. */
export const budgetIdleMs = 3_600_000;
const budgetIdleMsWhenFull = 5_000;
/** Periods of one budget that are kept: the current one and those before it, for a clock that is set back. */
const budgetPeriodsKept = 4;

/** One period of a budget. */
interface Period {
  readonly start: number;
  spent: number;
  held: number;
  /** What was spent before it was counted here is in `spent`. */
  known: boolean;
  /** Attempts whose cost was counted since the reading began; null when nothing is being read. */
  counted: Set<string> | null;
  /** Attempts that the reading held before anybody told of them, and when that was noted; null when there are none. */
  early: Map<string, number> | null;
}

/**
 * Money since the start of a period: what was spent in it and what reservations hold. Several periods are kept, so that a
 * wall clock that is set back finds the earlier one again. The counter does not know when a period ends, so `freeInMs` is 0:
 * whoever made the claim knows. A budget that is used up refuses even an amount of 0, because what a call will cost is only
 * estimated.
 */
export class Budget implements Tally {
  holds = 0;
  /** The one that was used last stands first. */
  readonly #periods: Period[] = [];
  /** Periods that begin then or later have nothing behind them but what was counted here. */
  #cleanFrom = Number.POSITIVE_INFINITY;
  #again = false;
  #usedMs: number;

  constructor(atMs: number) {
    this.#usedMs = atMs;
  }

  take(claim: Claim, atMs: number, amount: number = claim.amount): Share | null {
    const unchecked = claim.limit === Number.POSITIVE_INFINITY;
    const period = this.#find(claim.periodStart) ?? (unchecked ? this.#add(claim.periodStart, false) : null);
    if (period === null) return null;
    this.#usedMs = atMs;
    const used = period.spent + period.held;
    if (!unchecked && (!period.known || used >= claim.limit || !(used + amount <= claim.limit))) return null;
    period.held += amount;
    return new Share(this, claim, amount, { mark: period.start, used: used + amount, freeInMs: 0 });
  }

  /** What was held in a period that is over is freed there. What was spent instead is told by `spend`. */
  settle(share: Share, _actual: number): void {
    const period = this.#find(share.mark);
    if (period !== null) period.held -= share.amount;
  }

  /** How much more this claim could get. */
  room(claim: Claim): number {
    const period = this.#find(claim.periodStart);
    if (period === null || !period.known) return 0;
    return claim.limit - period.spent - period.held;
  }

  /** The same for a share that it has: nothing while what was spent is being read, unless that keeps nobody from calling. */
  roomOf(share: Share): number {
    const period = this.#find(share.mark);
    if (period === null) return 0;
    const counts = period.known || share.isOpen || share.limit === Number.POSITIVE_INFINITY;
    return counts ? share.limit - period.spent - period.held : 0;
  }

  topUp(share: Share, amount: number): void {
    const period = this.#find(share.mark);
    if (period === null) return;
    period.held += amount;
    share.amount += amount;
  }

  begin(periodStart: number, anew: boolean, atMs: number): void {
    this.#usedMs = atMs;
    const period = this.#find(periodStart) ?? this.#add(periodStart, false);
    if (period.known) return;
    if (anew) period.spent = 0;
    if (anew || period.counted === null) period.counted = new Set();
  }

  know(periodStart: number, { amount, recent, cleanFrom, again }: Spending, atMs: number): void {
    const period = this.#find(periodStart);
    // One that is to be read anew since this reading began has more to be read.
    if (period === null || period.known || period.counted === null) return;
    period.spent += amount;
    for (const cost of recent) {
      if (period.counted.has(cost.attemptId)) period.spent -= cost.amount;
      else expect(period, cost.attemptId, atMs);
    }
    period.counted = null;
    period.known = true;
    this.#again = again;
    // What was clean before stays so: from then on everything was counted here.
    this.#cleanFrom = Math.min(this.#cleanFrom, cleanFrom);
  }

  spend(periodStart: number, { attemptId, amount }: AttemptCost): void {
    const period = this.#find(periodStart);
    if (period === null || period.early?.delete(attemptId) === true) return;
    period.spent += amount;
    period.counted?.add(attemptId);
  }

  reread(periodStart: number): void {
    const period = this.#periods.find(({ start }) => start === periodStart);
    if (period === undefined) return;
    period.known = false;
    period.counted = null;
  }

  state(claim: Claim): ClaimState {
    const period = this.#find(claim.periodStart);
    const held = period?.held ?? 0;
    return { used: held + (period?.spent ?? 0), limit: claim.limit, freeInMs: 0, held };
  }

  isKnown(periodStart: number): boolean {
    return this.#find(periodStart)?.known ?? false;
  }

  /**
   * What can be read again in the ledger is not kept for long; one that was met just now has a claim coming. The counter asks
   * this only when nothing is held.
   */
  atRest(atMs: number, pressed: boolean): boolean {
    if (!this.#again && this.#periods.some(({ spent, known }) => !known || spent > 0)) return false;
    return atMs - this.#usedMs > (pressed ? budgetIdleMsWhenFull : budgetIdleMs);
  }

  #find(start: number): Period | null {
    for (const period of this.#periods) if (period.start === start) return period;
    return start >= this.#cleanFrom ? this.#add(start, true) : null;
  }

  #add(start: number, known: boolean): Period {
    const period: Period = { start, spent: 0, held: 0, known, counted: null, early: null };
    this.#periods.unshift(period);
    if (this.#periods.length > budgetPeriodsKept) this.#forgetOldest();
    return period;
  }

  /** One that is asked for again must be read again, so it no longer counts as clean. */
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

/** Only a settlement that was stored a moment before it is told of is ever met here; the rest is dropped soon. */
function expect(period: Period, attemptId: string, atMs: number): void {
  period.early ??= new Map();
  period.early.set(attemptId, atMs);
  for (const [oldest, notedMs] of period.early) {
    if (atMs - notedMs < bounds.budgetReadSlackMs && period.early.size <= bounds.budgetReadEntriesMax) break;
    period.early.delete(oldest);
  }
}
