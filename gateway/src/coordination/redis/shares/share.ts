import { bounds } from "#core/index.ts";
import type { Claim, ClaimState, Reserved } from "#ports/index.ts";
import type { BudgetCost } from "../recent-usage.ts";
import type { SharedReservation } from "../reservation.ts";
import { type UsageSlice, WindowUsage } from "./window-usage.ts";

/** Unsent costs per share. */
const shareCostsMax = 10_000;
/** Time constant with which past demand decays. */
const demandDecayMs = 1_000;

/** The tally's latest state as reported by Redis. `used` includes the shares of all processes. */
interface TallyState {
  readonly used: number;
  readonly freeInMs: number;
  readonly held: number;
  readonly atMs: number;
}

/** The part of a share that one reservation holds. */
export interface ShareAllocation {
  readonly share: Share;
  readonly claim: Claim;
  readonly part: UsageSlice | null;
  amount: number;
}

/** The report of one share in a message. `give`: amount returned; `want`: amount requested. */
export interface ShareMessage {
  readonly share: Share;
  readonly seq: number;
  readonly parts: readonly UsageSlice[];
  readonly corrections: readonly (readonly [UsageSlice, number])[];
  readonly costs: readonly BudgetCost[];
  readonly give: number;
  readonly want: number;
  /** The amount that Redis holds for the share after this message, if it grants nothing. */
  readonly rest: number;
}

/**
 * The part of one tally that Redis has leased to this process, which admits calls from it without a round trip.
 * Times are monotonic milliseconds.
 *
 * States of each leased amount:
 * - idle: free for calls. A grant in an answer adds to it; a call moves it to `active`, or to `used` in a window.
 * - active: held by running calls (gauges and budgets only). When the call ends, its cost moves to `returned` and the rest to `idle`.
 * - used: taken from a window; `WindowUsage` reports it with its age, so that it counts from when the call was admitted.
 * - returned: reported with the next message (`#returned`) or in flight (`#returnedInFlight`); an answer removes it from the share.
 *
 * States of the share, and what each means for a call:
 * - confirmed (the initial state, with nothing idle): a call that fits into the idle amount is admitted here.
 * - unconfirmed: `suspend` was called. Calls are reserved in Redis until an answer confirms what the share holds.
 * - paused: another process needs the amount (`onRecall`), so nothing stays idle and calls are reserved in Redis until the pause ends.
 */
export class Share {
  readonly name: string;
  readonly claim: Claim;
  idle = 0;
  active = 0;
  limit: number;
  usedMs: number;
  #usage: WindowUsage | null;
  /** As of the latest response. */
  #heldOnServer = 0;
  #returned = 0;
  #returnedInFlight = 0;
  #costs: BudgetCost[] = [];
  /** Costs of calls that have not released their hold yet; deducted when they do. */
  #costsOfRunning = 0;
  #seq = 0;
  #demand = 0;
  #demandMs: number;
  #largest = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #mustSend = false;
  #isConfirmed = true;
  #state: TallyState | null = null;

  constructor(name: string, claim: Claim, atMs: number) {
    this.name = name;
    this.claim = claim;
    this.limit = claim.limit;
    this.usedMs = atMs;
    this.#demandMs = atMs;
    this.#usage = claim.kind === "window" ? new WindowUsage(claim.windowMs) : null;
  }

  get hasUnsent(): boolean {
    return (
      this.#mustSend ||
      this.#returned > 0 ||
      this.#costs.length > 0 ||
      this.#usage?.hasUnsent === true ||
      (this.#usage === null && this.idle + this.active + this.#returnedInFlight !== this.#heldOnServer)
    );
  }

  /** The least that Redis must hold after a message: for running calls, and for uses that come with the next message. */
  get inUse(): number {
    return this.#usage === null ? this.active : this.#usage.unsent;
  }

  get costsSinceMs(): number | null {
    return this.#costs[0]?.atMs ?? null;
  }

  get isEmpty(): boolean {
    return !this.hasUnsent && this.idle <= 0 && this.active === 0 && this.#heldOnServer === 0;
  }

  /** Whether to report a return at once: during a recall, or with nothing idle, no other process will ask for it. */
  isScarce(atMs: number): boolean {
    return (atMs < this.#pausedUntilMs || this.idle <= 0) && this.hasUnsent;
  }

  /** Counts what a call requests, whether it is served from this share or not. */
  recordDemand(amount: number, atMs: number): void {
    this.#demand = this.#currentDemand(atMs) + amount;
    this.#demandMs = atMs;
    this.usedMs = atMs;
    // Decays, so that one exceptionally large call does not matter for long.
    this.#largest = amount > this.#largest ? amount : this.#largest - (this.#largest - amount) / 16;
  }

  fits(claim: Claim): boolean {
    if (claim.limit < this.limit) this.returnIdle();
    this.limit = claim.limit;
    return this.#isConfirmed && this.idle > 0 && claim.amount <= this.idle;
  }

  take(claim: Claim, atMs: number): ShareAllocation | null {
    if (!this.fits(claim)) return null;
    const { amount } = claim;
    this.idle -= amount;
    const part = this.#usage?.add(amount, atMs) ?? null;
    if (part === null) this.active += amount;
    return { share: this, claim, part, amount };
  }

  topUp(taking: ShareAllocation, amount: number): void {
    this.idle -= amount;
    this.active += amount;
    taking.amount += amount;
  }

  settle({ part, amount }: ShareAllocation, actual: number, atMs: number): void {
    if (part !== null) {
      const { more, isNew } = this.#usage?.settle(part, amount, actual, atMs) ?? { more: 0, isNew: false };
      if (isNew) this.idle -= more;
      else this.#addUsed(more);
    } else {
      this.active -= amount;
      const paid = Math.min(this.#costsOfRunning, amount);
      this.#costsOfRunning -= paid;
      this.#returned += paid;
      this.idle += amount - paid;
    }
    if (atMs < this.#pausedUntilMs) this.returnIdle();
  }

  /** Records a cost to report, which is deducted from the call's hold when that ends. Returns false if the list is full. */
  spend(cost: BudgetCost): boolean {
    if (this.#costs.length >= shareCostsMax) return false;
    this.#costs.push(cost);
    this.#costsOfRunning = Math.min(this.#costsOfRunning + cost.amount, this.active);
    this.#addUsed(cost.amount);
    return true;
  }

  returnIdle(): void {
    if (this.idle <= 0) return;
    this.#returned += this.idle;
    this.idle = 0;
  }

  /** Another process needs the amount, or it would have to refuse a call. */
  onRecall(atMs: number): void {
    this.#pausedUntilMs = atMs + bounds.shareRecallPauseMs;
    this.#mustSend = true;
    this.returnIdle();
  }

  /** The amount to request so that the share lasts `aheadMs` at the current demand. Also moves a surplus from `idle` to `returned`. */
  refillAmount(atMs: number, aheadMs: number, callsMin: number): number {
    if (atMs < this.#pausedUntilMs) return 0;
    const ahead = (this.#currentDemand(atMs) * aheadMs) / demandDecayMs;
    const target = Math.floor(Math.max(ahead, callsMin * this.#largest));
    if (target < 2 * this.#largest || target === 0) {
      this.returnIdle();
      return 0;
    }
    if (this.idle > 2 * target) {
      const surplus = Math.floor(this.idle - target);
      this.idle -= surplus;
      this.#returned += surplus;
    }
    return this.idle < target / 2 ? target - Math.max(0, Math.floor(this.idle)) : 0;
  }

  /** Takes everything unsent into one message. */
  takeMessage(want: number, atMs: number): ShareMessage {
    // A grant that was made before the recall may have arrived after it.
    if (atMs < this.#pausedUntilMs) this.returnIdle();
    const { parts, corrections } = this.#usage?.takeUnsent(atMs) ?? { parts: [], corrections: [] };
    const used = parts.reduce((sum, { unsent }) => sum + unsent, 0);
    const [costs, give] = [this.#costs, this.#returned];
    this.#costs = [];
    this.#returned = 0;
    this.#returnedInFlight = give;
    this.#mustSend = false;
    return {
      share: this,
      seq: ++this.#seq,
      parts,
      corrections,
      costs,
      give,
      want,
      rest: this.#heldOnServer - used - give,
    };
  }

  onResponse(message: ShareMessage, answer: readonly unknown[], from: number, atMs: number): void {
    const amount = Number(answer[from]);
    this.#heldOnServer = amount;
    this.#returnedInFlight = 0;
    this.#isConfirmed = true;
    this.idle += amount - message.rest;
    const marks = String(answer[from + 5]);
    this.#usage?.confirm(message.parts, marks === "" ? [] : marks.split(","), atMs);
    this.recordState(Number(answer[from + 1]), Number(answer[from + 2]), Number(answer[from + 3]), atMs);
    if (answer[from + 4] === "1" && atMs >= this.#pausedUntilMs) this.onRecall(atMs);
    else if (atMs < this.#pausedUntilMs) this.returnIdle();
  }

  suspend(): void {
    this.#isConfirmed = false;
    this.#mustSend = true;
  }

  /** Redis has lost its data, so nothing is leased any more. What the unanswered `message` reported is sent again. */
  onDataLoss(message: ShareMessage | null): void {
    if (message !== null) this.#costs.unshift(...message.costs);
    this.#heldOnServer = 0;
    this.#returned = 0;
    this.#returnedInFlight = 0;
    // Negative: amounts that calls have used must be leased again first.
    this.idle = -(this.#usage?.onDataLoss(message?.parts ?? []) ?? this.active);
    this.#mustSend = true;
    this.#state = null;
  }

  recordState(used: number, freeInMs: number, held: number, atMs: number): void {
    this.#state = { used, freeInMs, held, atMs };
    if (used > this.limit) this.returnIdle();
  }

  /** The tally's state without the idle part of this share. null: no response within `maxAgeMs`. */
  recentState(claim: Claim, atMs: number, maxAgeMs: number): ClaimState | null {
    const seen = this.#state;
    if (seen === null || atMs - seen.atMs > maxAgeMs) return null;
    const idle = Math.max(0, this.idle) + this.#returned + this.#returnedInFlight;
    const used = Math.max(0, seen.used - idle);
    if (claim.kind === "budget") {
      return { used, limit: claim.limit, freeInMs: 0, held: Math.max(0, seen.held - idle) };
    }
    if (claim.kind === "gauge") return { used, limit: claim.limit, freeInMs: 0 };
    const left = seen.freeInMs - (atMs - seen.atMs);
    const freeInMs = used === 0 ? 0 : left > 0 ? left : claim.windowMs;
    return { used, limit: claim.limit, freeInMs };
  }

  #addUsed(more: number): void {
    if (this.#state === null || more === 0) return;
    const { freeInMs, held, atMs, used } = this.#state;
    this.recordState(used + more, freeInMs, held, atMs);
  }

  #currentDemand(atMs: number): number {
    const agoMs = atMs - this.#demandMs;
    return agoMs <= 0 ? this.#demand : this.#demand * Math.exp(-agoMs / demandDecayMs);
  }
}

/** A reservation taken from local shares. Redis does not know its id. */
export class LeasedReservation implements Reserved {
  readonly granted = true;
  readonly allocations: readonly ShareAllocation[];
  /** Reservations made in Redis because a share had too little for a top-up. */
  readonly supplements: SharedReservation[] = [];
  held: number;
  readonly takenMs: number;
  ended = false;
  readonly #stateOf: (taking: ShareAllocation) => ClaimState;
  #states: readonly ClaimState[] | null = null;

  constructor(
    takings: readonly ShareAllocation[],
    held: number,
    takenMs: number,
    stateOf: (taking: ShareAllocation) => ClaimState,
  ) {
    this.allocations = takings;
    this.held = held;
    this.takenMs = takenMs;
    this.#stateOf = stateOf;
  }

  get claims(): readonly Claim[] {
    return this.allocations.map(({ claim }) => claim);
  }

  get ticket(): object {
    return this;
  }

  /** Computed on first use: most calls do not read them. */
  get states(): readonly ClaimState[] {
    this.#states ??= this.allocations.map(this.#stateOf);
    return this.#states;
  }
}
