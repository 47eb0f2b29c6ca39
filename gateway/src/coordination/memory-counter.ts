import { bounds } from "#core/index.ts";
import type { Claim, ClaimState, Clock, Counter, Refused, Reserved } from "#ports/index.ts";
import { Budget } from "./budget.ts";
import { Gauge } from "./gauge.ts";
import { Shelf } from "./shelf.ts";
import { type Share, type Tally, uncounted } from "./tally.ts";
import { Window } from "./window.ts";

export interface MemoryCounterOptions {
  readonly clock: Clock;
  /** Default bounds.countersMax. */
  readonly countersMax?: number;
}

/** Counts for one process. Synchronous, so that nothing can come between the check and the taking. */
export function createMemoryCounter(options: MemoryCounterOptions): Counter {
  return new MemoryCounter(options.clock, options.countersMax ?? bounds.countersMax);
}

/** Every so many reservations one resting tally may be forgotten; the making of a new one looks at a few more. */
const reservationsPerSweep = 8;
const stepsPerTally = 2;
/** How hard a place is searched for when all are taken. */
const stepsWhenFull = 1_024;
/** What a claim is told that there was no room to count. */
const fullRetryMs = 1_000;

class MemoryCounter implements Counter {
  readonly #clock: Clock;
  readonly #countersMax: number;
  readonly #windows = new Shelf<Window>();
  readonly #gauges = new Shelf<Gauge>();
  readonly #budgets = new Shelf<Budget>();
  #reservations = 0;
  #outstanding = 0;

  constructor(clock: Clock, countersMax: number) {
    this.#clock = clock;
    this.#countersMax = countersMax;
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  reserve(claims: readonly Claim[]): Reserved | Refused {
    const atMs = this.#clock.monotonic();
    if (++this.#reservations % reservationsPerSweep === 0) this.#sweep(1, atMs);
    const reservation = new Reservation();
    for (let index = 0; index < claims.length; index++) {
      const claim = claims[index];
      if (claim === undefined) continue;
      const tally = this.#find(claim) ?? this.#make(claim, atMs) ?? (claim.fail === "open" ? uncounted : null);
      const share = tally?.take(claim, atMs) ?? null;
      if (tally === null || share === null) {
        giveBack(reservation, atMs);
        const state = tally?.state(claim, atMs) ?? { used: 0, limit: claim.limit, freeInMs: fullRetryMs };
        return { granted: false, index, state };
      }
      tally.holds++;
      reservation.states.push(share);
    }
    this.#outstanding++;
    return reservation;
  }

  settle(ticket: object, actual: readonly number[]): void {
    if (!(ticket instanceof Reservation) || ticket.settled) return;
    ticket.settled = true;
    this.#outstanding--;
    const atMs = this.#clock.monotonic();
    for (let index = 0; index < ticket.states.length; index++) {
      const share = ticket.states[index];
      if (share === undefined) continue;
      // What is not told, or is not a number, stays as it was reserved: a caller's mistake gives no free quota.
      const amount = actual[index] ?? Number.NaN;
      share.tally.settle(share, Number.isFinite(amount) && amount >= 0 ? amount : share.amount, atMs);
      share.tally.holds--;
    }
  }

  seed(
    key: string,
    kind: "window" | "budget",
    amount: number,
    at: number,
    windowMs: number,
    periodStart: number,
  ): void {
    const atMs = this.#clock.monotonic();
    if (kind === "budget") {
      const budget = this.#budgets.find(key) ?? this.#place(this.#budgets, key, new Budget(periodStart), atMs);
      budget?.seed(amount, periodStart);
      return;
    }
    const ageMs = Math.max(0, this.#clock.now() - at);
    const window = this.#windows.find(key) ?? this.#place(this.#windows, key, new Window(windowMs, atMs), atMs);
    window?.seed(amount, ageMs, atMs);
  }

  raise(key: string, amount: number, periodStart: number): void {
    const found = this.#budgets.find(key);
    const budget = found ?? this.#place(this.#budgets, key, new Budget(periodStart), this.#clock.monotonic());
    budget?.raise(amount, periodStart);
  }

  peek(claim: Claim): ClaimState {
    return this.#find(claim)?.state(claim, this.#clock.monotonic()) ?? { used: 0, limit: claim.limit, freeInMs: 0 };
  }

  #find(claim: Claim): Tally | undefined {
    if (claim.kind === "window") return this.#windows.find(claim.key);
    return claim.kind === "gauge" ? this.#gauges.find(claim.key) : this.#budgets.find(claim.key);
  }

  #make(claim: Claim, atMs: number): Tally | null {
    if (claim.kind === "window") return this.#place(this.#windows, claim.key, new Window(claim.windowMs, atMs), atMs);
    if (claim.kind === "gauge") return this.#place(this.#gauges, claim.key, new Gauge(), atMs);
    return this.#place(this.#budgets, claim.key, new Budget(claim.periodStart), atMs);
  }

  #place<T extends Tally>(shelf: Shelf<T>, key: string, tally: T, atMs: number): T | null {
    this.#sweep(stepsPerTally, atMs);
    if (this.#size() >= this.#countersMax) this.#sweep(stepsWhenFull, atMs);
    return this.#size() >= this.#countersMax ? null : shelf.put(key, tally);
  }

  #size(): number {
    return this.#windows.size + this.#gauges.size + this.#budgets.size;
  }

  #sweep(steps: number, atMs: number): void {
    this.#windows.sweep(steps, atMs);
    this.#gauges.sweep(steps, atMs);
    this.#budgets.sweep(steps, atMs);
  }
}

/** The shares of one call; also its own ticket, so that a reservation allocates nothing else. */
class Reservation implements Reserved {
  readonly granted = true;
  readonly states: Share[] = [];
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
