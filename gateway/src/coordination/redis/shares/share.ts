import { bounds } from "#core/index.ts";
import type { AttemptCost, Claim, ClaimState, Reserved } from "#ports/index.ts";
import type { SharedReservation } from "../reservation.ts";
import { type UsedPart, Uses } from "./uses.ts";

/** Costs that wait to be told with one share. */
const shareCostsMax = 10_000;

/** What calls took in the latest second counts as how much is taken now; older takings fade. */
const flowFadeMs = 1_000;

/** How a tally stood when the shared counter was last heard of it: what all processes used of it, their shares included. */
interface Seen {
  readonly used: number;
  readonly freeInMs: number;
  readonly held: number;
  readonly atMs: number;
}

/** What an attempt cost, and when that was settled. */
export interface ShareCost extends AttemptCost {
  readonly atMs: number;
}

/** What one reservation took of one share. */
export interface Taking {
  readonly share: Share;
  readonly claim: Claim;
  readonly part: UsedPart | null;
  amount: number;
}

/** One share in a message, as it was when that was written. */
export interface ShareMessage {
  readonly share: Share;
  readonly seq: number;
  readonly parts: readonly UsedPart[];
  readonly corrections: readonly (readonly [UsedPart, number])[];
  readonly costs: readonly ShareCost[];
  readonly give: number;
  readonly want: number;
  /** What is left of it there when the message is done and nothing is granted. */
  readonly rest: number;
}

/**
 * What this process was leased of one tally: it admits calls by it without asking. Times are milliseconds of this process's
 * monotonic clock. `idle` may be taken; of a gauge or a budget `active` is held by calls that run. What a window's calls took is
 * told with its age, so that it counts as of then.
 */
export class Share {
  readonly name: string;
  readonly claim: Claim;
  idle = 0;
  active = 0;
  limit: number;
  usedMs: number;
  #uses: Uses | null;
  /** What the shared counter held for it after the last message that was answered. */
  #there = 0;
  /** Given back, and not told yet; and what the message on its way tells of that. */
  #give = 0;
  #giving = 0;
  #costs: ShareCost[] = [];
  /** Costs that were told of calls whose hold has not ended yet: paid from that. */
  #unpaid = 0;
  #seq = 0;
  #flow = 0;
  #flowMs: number;
  #largest = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #mustAnswer = false;
  /** False until the shared counter has said what it still holds, after this process was away from it. */
  #isSure = true;
  #seen: Seen | null = null;

  constructor(name: string, claim: Claim, atMs: number) {
    this.name = name;
    this.claim = claim;
    this.limit = claim.limit;
    this.usedMs = atMs;
    this.#flowMs = atMs;
    this.#uses = claim.kind === "window" ? new Uses(claim.windowMs) : null;
  }

  /** Whether the shared counter must be told of it, or asked for more. */
  get isDirty(): boolean {
    return (
      this.#mustAnswer ||
      this.#give > 0 ||
      this.#costs.length > 0 ||
      this.#uses?.isDirty === true ||
      (this.#uses === null && this.idle + this.active + this.#giving !== this.#there)
    );
  }

  get costsSinceMs(): number | null {
    return this.#costs[0]?.atMs ?? null;
  }

  /** Whether it holds nothing and has nothing to tell. */
  get isEmpty(): boolean {
    return !this.isDirty && this.idle <= 0 && this.active === 0 && this.#there === 0;
  }

  /**
   * Whether what comes back is to be told at once, since somebody may be refused for want of it: while a recall lasts nobody is
   * asked again, and who holds nothing that is idle is never asked.
   */
  isScarce(atMs: number): boolean {
    return (atMs < this.#pausedUntilMs || this.idle <= 0) && this.isDirty;
  }

  /** A call asks for this much, be it served from here or not. */
  note(amount: number, atMs: number): void {
    this.#flow = this.#fadedFlow(atMs) + amount;
    this.#flowMs = atMs;
    this.usedMs = atMs;
    // One that is much larger than the others is soon forgotten.
    this.#largest = amount > this.#largest ? amount : this.#largest - (this.#largest - amount) / 16;
  }

  fits(claim: Claim): boolean {
    if (claim.limit < this.limit) this.giveBack();
    this.limit = claim.limit;
    return this.#isSure && this.idle > 0 && claim.amount <= this.idle;
  }

  take(claim: Claim, atMs: number): Taking | null {
    if (!this.fits(claim)) return null;
    const { amount } = claim;
    this.idle -= amount;
    const part = this.#uses?.add(amount, atMs) ?? null;
    if (part === null) this.active += amount;
    return { share: this, claim, part, amount };
  }

  topUp(taking: Taking, amount: number): void {
    this.idle -= amount;
    this.active += amount;
    taking.amount += amount;
  }

  settle({ part, amount }: Taking, actual: number, atMs: number): void {
    if (part !== null) {
      const { more, isNew } = this.#uses?.end(part, amount, actual, atMs) ?? { more: 0, isNew: false };
      if (isNew) this.idle -= more;
      else this.#used(more);
    } else {
      this.active -= amount;
      const paid = Math.min(this.#unpaid, amount);
      this.#unpaid -= paid;
      this.#give += paid;
      this.idle += amount - paid;
    }
    if (atMs < this.#pausedUntilMs) this.giveBack();
  }

  /** Its cost counts as soon as it is told, and is paid from what its call held when that ends. False: there is no room to note it. */
  spend(cost: ShareCost): boolean {
    if (this.#costs.length >= shareCostsMax) return false;
    this.#costs.push(cost);
    this.#unpaid = Math.min(this.#unpaid + cost.amount, this.active);
    this.#used(cost.amount);
    return true;
  }

  /** Nothing that is idle is used any more; it is told as given back. */
  giveBack(): void {
    if (this.idle <= 0) return;
    this.#give += this.idle;
    this.idle = 0;
  }

  /** Another process is about to be refused. */
  recalled(atMs: number): void {
    this.#pausedUntilMs = atMs + bounds.shareRecallPauseMs;
    this.#mustAnswer = true;
    this.giveBack();
  }

  /** How much is to be asked for, beyond what is idle. */
  wanted(atMs: number, aheadMs: number, callsMin: number): number {
    if (atMs < this.#pausedUntilMs) return 0;
    const ahead = (this.#fadedFlow(atMs) * aheadMs) / flowFadeMs;
    const target = Math.floor(Math.max(ahead, callsMin * this.#largest));
    if (target < 2 * this.#largest || target === 0) {
      this.giveBack();
      return 0;
    }
    if (this.idle > 2 * target) {
      const surplus = Math.floor(this.idle - target);
      this.idle -= surplus;
      this.#give += surplus;
    }
    return this.idle < target / 2 ? target - Math.max(0, Math.floor(this.idle)) : 0;
  }

  /** Writes all that is to be told. What happens from here on is told by the next message. */
  message(want: number, atMs: number): ShareMessage {
    // What was granted before the recall and heard of after it.
    if (atMs < this.#pausedUntilMs) this.giveBack();
    const { parts, corrections } = this.#uses?.message(atMs) ?? { parts: [], corrections: [] };
    const used = parts.reduce((sum, { untold }) => sum + untold, 0);
    const [costs, give] = [this.#costs, this.#give];
    this.#costs = [];
    this.#give = 0;
    this.#giving = give;
    this.#mustAnswer = false;
    return {
      share: this,
      seq: ++this.#seq,
      parts,
      corrections,
      costs,
      give,
      want,
      rest: this.#there - used - give,
    };
  }

  answered(message: ShareMessage, answer: readonly unknown[], from: number, atMs: number): void {
    const amount = Number(answer[from]);
    this.#there = amount;
    this.#giving = 0;
    this.#isSure = true;
    this.idle += amount - message.rest;
    const marks = String(answer[from + 5]);
    this.#uses?.told(message.parts, marks === "" ? [] : marks.split(","), atMs);
    this.see(Number(answer[from + 1]), Number(answer[from + 2]), Number(answer[from + 3]), atMs);
    if (answer[from + 4] === "1" && atMs >= this.#pausedUntilMs) this.recalled(atMs);
    else if (atMs < this.#pausedUntilMs) this.giveBack();
  }

  /** It is not used before the shared counter has been heard of it. */
  doubt(): void {
    this.#isSure = false;
    this.#mustAnswer = true;
  }

  /** The message was for a counter that is lost: what it told is to be told again, and nothing is leased. */
  lost(message: ShareMessage | null): void {
    if (message !== null) this.#costs.unshift(...message.costs);
    this.#there = 0;
    this.#give = 0;
    this.#giving = 0;
    // What calls have taken is owed, until it is told.
    this.idle = -(this.#uses?.lost(message?.parts ?? []) ?? this.active);
    this.#mustAnswer = true;
    this.#seen = null;
  }

  see(used: number, freeInMs: number, held: number, atMs: number): void {
    this.#seen = { used, freeInMs, held, atMs };
    if (used > this.limit) this.giveBack();
  }

  /** How the tally stands as far as this process knows: what it has idle itself is not used. null: nothing was heard lately. */
  state(claim: Claim, atMs: number, maxAgeMs: number): ClaimState | null {
    const seen = this.#seen;
    if (seen === null || atMs - seen.atMs > maxAgeMs) return null;
    const idle = Math.max(0, this.idle) + this.#give + this.#giving;
    const used = Math.max(0, seen.used - idle);
    if (claim.kind === "budget") {
      return { used, limit: claim.limit, freeInMs: 0, held: Math.max(0, seen.held - idle) };
    }
    if (claim.kind === "gauge") return { used, limit: claim.limit, freeInMs: 0 };
    const left = seen.freeInMs - (atMs - seen.atMs);
    const freeInMs = used === 0 ? 0 : left > 0 ? left : claim.windowMs;
    return { used, limit: claim.limit, freeInMs };
  }

  #used(more: number): void {
    if (this.#seen === null || more === 0) return;
    const { freeInMs, held, atMs, used } = this.#seen;
    this.see(used + more, freeInMs, held, atMs);
  }

  #fadedFlow(atMs: number): number {
    const agoMs = atMs - this.#flowMs;
    return agoMs <= 0 ? this.#flow : this.#flow * Math.exp(-agoMs / flowFadeMs);
  }
}

/** A reservation that this process's shares carry: nobody else knows of it by its id. */
export class LeasedReservation implements Reserved {
  readonly granted = true;
  readonly takings: readonly Taking[];
  /** What was reserved beside them, because a share had too little for a top-up. */
  readonly annexes: SharedReservation[] = [];
  held: number;
  /** By the monotonic clock of this process. */
  readonly takenMs: number;
  ended = false;
  readonly #stateOf: (taking: Taking) => ClaimState;
  #states: readonly ClaimState[] | null = null;

  constructor(takings: readonly Taking[], held: number, takenMs: number, stateOf: (taking: Taking) => ClaimState) {
    this.takings = takings;
    this.held = held;
    this.takenMs = takenMs;
    this.#stateOf = stateOf;
  }

  get claims(): readonly Claim[] {
    return this.takings.map(({ claim }) => claim);
  }

  get ticket(): object {
    return this;
  }

  /** As they stand when they are first asked for; most calls do not ask. */
  get states(): readonly ClaimState[] {
    this.#states ??= this.takings.map(this.#stateOf);
    return this.#states;
  }
}
