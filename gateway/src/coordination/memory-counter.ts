import { bounds } from "#core/index.ts";
import type {
  AttemptCost,
  BudgetPeriodKey,
  Claim,
  ClaimState,
  Clock,
  Counter,
  Observer,
  Refused,
  Reserved,
  Spending,
} from "#ports/index.ts";
import { Budget } from "./budget.ts";
import { Gauge } from "./gauge.ts";
import { type Share, settledAmount, type Tally, unlimitedTally } from "./tally.ts";
import { Window } from "./window.ts";

const memoryCountersMax = 1_000_000;

interface MemoryCounterOptions {
  readonly clock: Clock;
  /** Default memoryCountersMax. */
  readonly countersMax?: number;
  readonly observer?: Pick<Observer, "log">;
  /** For a replay: budgets are never evicted, and what was counted stays when they are read, because readings do not include it. */
  readonly keepsBudgets?: boolean;
  /** Idle tallies to keep at most, because creating them again takes longer. Default 0. */
  readonly idleMax?: number;
}

export function createMemoryCounter(options: MemoryCounterOptions): MemoryCounter {
  return new MemoryCounter(options);
}

/** After this many reservations one tally is checked for eviction. */
const reservationsPerSweep = 8;
/** Tallies checked for eviction when one is added, and when the table is full. */
const stepsPerTally = 2;
const stepsWhenFull = 1_024;
/** `freeInMs` of a claim that found no room. */
const fullRetryMs = 1_000;

/** Counts for one process. Synchronous, so that nothing can come between the check and the taking. */
export class MemoryCounter implements Counter {
  readonly #clock: Clock;
  readonly #observer: Pick<Observer, "log"> | null;
  readonly #countersMax: number;
  readonly #keepsBudgets: boolean;
  readonly #idleMax: number;
  readonly #windows = new TallyTable<Window>();
  readonly #gauges = new TallyTable<Gauge>();
  readonly #budgets = new TallyTable<Budget>();
  #reservations = 0;
  #outstanding = 0;
  #rejected = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, countersMax, observer, keepsBudgets = false, idleMax = 0 }: MemoryCounterOptions) {
    this.#clock = clock;
    this.#observer = observer ?? null;
    this.#countersMax = countersMax ?? memoryCountersMax;
    this.#keepsBudgets = keepsBudgets;
    this.#idleMax = idleMax;
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  get size(): number {
    return this.#windows.size + this.#gauges.size + this.#budgets.size;
  }

  /** Claims that found no room. */
  get rejected(): number {
    return this.#rejected;
  }

  reserve(claims: readonly Claim[]): Reserved | Refused {
    const atMs = this.#clock.monotonic();
    if (++this.#reservations % reservationsPerSweep === 0) this.#sweep(1, atMs);
    const answer = this.#take(claims, atMs, Number.POSITIVE_INFINITY);
    if (answer.granted || answer.reason !== "limit") return answer;
    const refusing = claims[answer.index];
    if (refusing === undefined || refusing.least >= refusing.amount) return answer;
    const room = this.#room(claims);
    return room > 0 && room >= refusing.least ? this.#take(claims, atMs, room) : answer;
  }

  topUp(ticket: object, amount: number, least: number): number {
    if (!(ticket instanceof Reservation) || ticket.settled) return 0;
    let room = amount;
    for (const share of ticket.states) {
      if (share.tally instanceof Budget) room = Math.min(room, share.tally.roomOf(share));
    }
    if (!(room > 0 && room >= least)) return 0;
    for (const share of ticket.states) if (share.tally instanceof Budget) share.tally.topUp(share, room);
    ticket.held += room;
    return room;
  }

  settle(ticket: object, actual: readonly number[]): void {
    if (!(ticket instanceof Reservation) || ticket.settled) return;
    ticket.settled = true;
    this.#outstanding--;
    const atMs = this.#clock.monotonic();
    for (let index = 0; index < ticket.states.length; index++) {
      const share = ticket.states[index];
      if (share === undefined) continue;
      share.tally.settle(share, settledAmount(actual, index, share.amount), atMs);
      share.tally.holds--;
    }
  }

  beginPeriod(key: string, periodStart: number, anew = false): "known" | "unknown" | "full" {
    const atMs = this.#clock.monotonic();
    const budget = this.#budgets.find(key) ?? this.#add(this.#budgets, key, new Budget(atMs), atMs);
    if (budget === null) return "full";
    budget.begin(periodStart, anew && !this.#keepsBudgets, atMs);
    return budget.isLoaded(periodStart) ? "known" : "unknown";
  }

  setSpending(key: string, periodStart: number, spent: Spending): void {
    const again = spent.again && !this.#keepsBudgets;
    this.#budgets.find(key)?.load(periodStart, { ...spent, again }, this.#clock.monotonic());
  }

  spend(key: string, periodStart: number, cost: AttemptCost): boolean {
    const budget = this.#budgets.find(key);
    budget?.spend(periodStart, cost);
    return budget !== undefined;
  }

  invalidateSpending(periods: readonly BudgetPeriodKey[]): void {
    for (const { key, periodStart } of periods) this.#budgets.find(key)?.reread(periodStart);
  }

  seed(key: string, amount: number, at: number, windowMs: number): void {
    const atMs = this.#clock.monotonic();
    const ageMs = Math.max(0, this.#clock.now() - at);
    const window = this.#windows.find(key) ?? this.#add(this.#windows, key, new Window(windowMs, atMs), atMs);
    window?.seed(amount, ageMs, atMs);
  }

  peek(claim: Claim): ClaimState {
    return this.#find(claim)?.state(claim, this.#clock.monotonic()) ?? { used: 0, limit: claim.limit, freeInMs: 0 };
  }

  /** Takes all claims or none; at most `moneyMax` from each budget. */
  #take(claims: readonly Claim[], atMs: number, moneyMax: number): Reserved | Refused {
    const reservation = new Reservation();
    for (let index = 0; index < claims.length; index++) {
      const claim = claims[index];
      if (claim === undefined) continue;
      const tally = this.#find(claim) ?? this.#make(claim, atMs);
      const isBudget = claim.kind === "budget";
      const share = tally?.take(claim, atMs, isBudget ? Math.min(claim.amount, moneyMax) : claim.amount) ?? null;
      if (tally === null || share === null) {
        giveBack(reservation, atMs);
        return this.#refusal(claim, index, tally, atMs);
      }
      tally.holds++;
      reservation.states.push(share);
      if (isBudget) reservation.held = share.amount;
    }
    this.#outstanding++;
    return reservation;
  }

  #refusal(claim: Claim, index: number, tally: Tally | null, atMs: number): Refused {
    if (tally === null) {
      const reason = claim.kind === "budget" ? "unknown" : "full";
      return { granted: false, index, state: { used: 0, limit: claim.limit, freeInMs: fullRetryMs }, reason };
    }
    const isLoaded = !(tally instanceof Budget) || tally.isLoaded(claim.periodStart);
    return { granted: false, index, state: tally.state(claim, atMs), reason: isLoaded ? "limit" : "unknown" };
  }

  /** The smallest amount that is left in a budget of these claims. */
  #room(claims: readonly Claim[]): number {
    let room = Number.POSITIVE_INFINITY;
    for (const claim of claims) {
      if (claim.kind !== "budget" || claim.limit === Number.POSITIVE_INFINITY) continue;
      room = Math.min(room, this.#budgets.find(claim.key)?.room(claim) ?? 0);
    }
    return room;
  }

  #find(claim: Claim): Tally | undefined {
    if (claim.kind === "window") return this.#windows.find(claim.key);
    return claim.kind === "gauge" ? this.#gauges.find(claim.key) : this.#budgets.find(claim.key);
  }

  /** Budgets are created by `beginPeriod`, which loads their spending; only unlimited ones are created here. */
  #make(claim: Claim, atMs: number): Tally | null {
    const otherwise = claim.fail === "open" ? unlimitedTally : null;
    if (claim.kind === "window")
      return this.#add(this.#windows, claim.key, new Window(claim.windowMs, atMs), atMs) ?? otherwise;
    if (claim.kind === "gauge") return this.#add(this.#gauges, claim.key, new Gauge(), atMs) ?? otherwise;
    if (claim.limit !== Number.POSITIVE_INFINITY) return null;
    return this.#add(this.#budgets, claim.key, new Budget(atMs), atMs) ?? unlimitedTally;
  }

  #add<T extends Tally>(table: TallyTable<T>, key: string, tally: T, atMs: number): T | null {
    this.#sweep(stepsPerTally, atMs);
    if (this.#isFull()) this.#sweep(stepsWhenFull, atMs, true);
    if (!this.#isFull()) return table.put(key, tally);
    this.#rejectFull(atMs);
    return null;
  }

  #isFull(): boolean {
    return this.size >= this.#countersMax;
  }

  #rejectFull(atMs: number): void {
    this.#rejected++;
    if (atMs - this.#loggedMs < bounds.counterFullLogMs) return;
    this.#loggedMs = atMs;
    this.#observer?.log("error", "limit counters are full; applying each limit's `fail` setting", {
      counted: this.size,
      rejected: this.#rejected,
    });
  }

  #sweep(steps: number, atMs: number, pressed = false): void {
    if (this.size < this.#idleMax && !pressed) return;
    this.#windows.sweep(steps, atMs, pressed);
    this.#gauges.sweep(steps, atMs, pressed);
    this.#budgets.sweep(steps, atMs, pressed);
  }
}

/** The shares of one call; also its own ticket, so that a reservation allocates nothing else. */
class Reservation implements Reserved {
  readonly granted = true;
  readonly states: Share[] = [];
  held = Number.POSITIVE_INFINITY;
  settled = false;

  get ticket(): object {
    return this;
  }
}

function giveBack(reservation: Reservation, atMs: number): void {
  for (const share of reservation.states) {
    share.tally.settle(share, 0, atMs);
    share.tally.holds--;
  }
}

/** Tallies of one kind by key. A cursor moves round over them to evict idle ones. */
class TallyTable<T extends Tally> {
  readonly #tallies = new Map<string, T>();
  #cursor: Iterator<string> = this.#tallies.keys();

  get size(): number {
    return this.#tallies.size;
  }

  find(key: string): T | undefined {
    return this.#tallies.get(key);
  }

  put(key: string, tally: T): T {
    this.#tallies.set(key, tally);
    return tally;
  }

  /** Checks up to `steps` tallies and evicts idle ones. `pressed`: the table is full. */
  sweep(steps: number, atMs: number, pressed = false): void {
    for (let step = 0; step < steps; step++) {
      const next = this.#cursor.next();
      if (next.done === true) {
        this.#cursor = this.#tallies.keys();
        return;
      }
      const tally = this.#tallies.get(next.value);
      if (tally !== undefined && tally.holds === 0 && tally.isIdle(atMs, pressed)) this.#tallies.delete(next.value);
    }
  }
}
