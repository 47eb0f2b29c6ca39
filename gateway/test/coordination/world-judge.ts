import type { Claim, ClaimState, Refused, Reserved } from "#ports/index.ts";

/** One call that was admitted, as the world sees it. Times are milliseconds of the world's clock; null: not yet. */
export interface Call {
  readonly id: string;
  readonly process: number;
  readonly claims: readonly Claim[];
  readonly admittedMs: number;
  readonly reserved: Reserved;
  /** What was reserved of a budget after the admission. */
  more: number;
  /** What it used of the window at the end; null while it runs. */
  tokens: number | null;
  cost: number;
  endedMs: number | null;
  /** Its process knows that it has ended, and has told so where nobody asks for it. */
  isTold: boolean;
  isDead: boolean;
  deadMs: number | null;
  /** Its process is dead, and its journal taken over. */
  isAdopted: boolean;
}

/** A question on its way: the most that others may have held of each claim's limit while it was. */
interface Pending {
  readonly process: number;
  readonly claims: readonly Claim[];
  readonly peaks: number[];
}

export interface JudgeOptions {
  readonly nowMs: () => number;
  readonly windowMs: number;
  /** Whether what runs of a process that was cut off counts: for longer than its lease it is as good as dead. */
  readonly countsPlaces: boolean;
}

/** A part of the shared counter's window, and of a share's; and how old a message may be. */
const windowSlack = 1 + 1 / 60 + 1 / 240;
const messageMsMax = 250;
/** What has ended this lately is still on its way: its cost may count before what it held is given back. */
const endingMsMax = 100;

/**
 * Judges both directions, of every answer: never more than a limit was admitted, at that moment or, for what was heard late, at any
 * since; and nobody was refused by a limit of which enough was free, or idle at somebody, all the while that it asked.
 */
export class WorldJudge {
  readonly calls: Call[] = [];
  readonly #options: JudgeOptions;
  readonly #pending = new Map<string, Pending>();
  #unfairUntilMs = { window: 0, gauge: 0, budget: 0 };
  /** Refusals that were looked at. */
  judged = 0;
  /** Nothing is judged from here until it is made new. */
  isSuspended = false;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** Until then somebody may be refused for what is not there: of one kind of limit, or of all. */
  unfair(untilMs: number, kinds: readonly Claim["kind"][] = ["window", "gauge", "budget"]): void {
    for (const kind of kinds) this.#unfairUntilMs[kind] = Math.max(this.#unfairUntilMs[kind], untilMs);
  }

  asked(id: string, claims: readonly Claim[], process: number): void {
    this.#pending.set(id, { process, claims, peaks: claims.map(() => 0) });
    this.#rise();
  }

  isAsking(process: number): boolean {
    return [...this.#pending.values()].some((pending) => pending.process === process);
  }

  /** It was neither admitted nor refused. */
  lost(id: string): void {
    this.#pending.delete(id);
  }

  admitted(call: Call): void {
    this.#pending.delete(call.id);
    this.calls.push(call);
    this.#rise();
    if (this.isSuspended) return;
    this.#check(call.admittedMs);
    for (const { admittedMs } of this.calls) if (admittedMs > call.admittedMs) this.#check(admittedMs);
  }

  refused(id: string, { index, reason, state }: Refused): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    const claim = pending?.claims[index];
    if (pending === undefined || claim === undefined || reason !== "limit" || this.isSuspended) return;
    if (this.#options.nowMs() < this.#unfairUntilMs[claim.kind]) return;
    this.judged++;
    const peak = pending.peaks[index] ?? Number.NaN;
    if (peak + claim.amount <= claim.limit) throw new Error(refusal(claim, peak, state));
  }

  /** A call holds more of its budget than before. */
  toppedUp(call: Call): void {
    this.#rise();
    const limit = call.claims.find(({ kind }) => kind === "budget")?.limit ?? 0;
    const sum = this.calls.reduce((all, each) => all + this.#heldBy(each, "budget", this.#options.nowMs()), 0);
    if (!this.isSuspended && call.more > 0 && sum > limit) throw new Error(`a top-up made it ${sum} of ${limit}`);
  }

  /** Of no limit was more admitted than it allows, at this moment. */
  #check(atMs: number): void {
    const latest = this.calls.filter(({ admittedMs }) => admittedMs === atMs).flatMap(({ claims }) => claims);
    for (const [kind, claims] of Map.groupBy(latest, (claim) => claim.kind)) {
      if (kind === "gauge" && !this.#options.countsPlaces) continue;
      // Who asked before somebody lowered the limit may come in the same moment.
      const limit = Math.max(...claims.map((claim) => claim.limit));
      const sum = this.calls.reduce((all, call) => all + this.#heldBy(call, kind, atMs), 0);
      if (sum > limit) throw new Error(`${sum} of ${limit} were admitted by a ${kind}`);
    }
  }

  /** What a call truly took of a limit at a moment. */
  #heldBy({ admittedMs, claims, cost, more, tokens, endedMs, deadMs, isAdopted }: Call, kind: string, atMs: number) {
    const claim = claims.find((each) => each.kind === kind);
    if (claim === undefined || admittedMs > atMs) return 0;
    const hasEnded = endedMs !== null && endedMs <= atMs;
    if (kind === "window") {
      if (admittedMs <= atMs - this.#options.windowMs) return 0;
      return hasEnded ? Math.min(claim.amount, tokens ?? claim.amount) : claim.amount;
    }
    if (kind === "gauge") return hasEnded || (deadMs !== null && deadMs <= atMs) ? 0 : claim.amount;
    // Money stays held until it is known what became of it.
    return hasEnded || isAdopted ? cost : claim.amount + more;
  }

  #rise(): void {
    if (this.#pending.size === 0) return;
    for (const kind of ["window", "gauge", "budget"] as const) {
      const held = this.#mostHeld(kind);
      const asked = [...this.#pending.values()].reduce((sum, { claims }) => sum + amountOf(claims, kind), 0);
      for (const { claims, peaks } of this.#pending.values()) {
        const index = claims.findIndex((claim) => claim.kind === kind);
        if (index < 0) continue;
        peaks[index] = Math.max(peaks[index] ?? 0, held + asked - amountOf(claims, kind));
      }
    }
  }

  /** The most that the shared counter may count now of what was admitted. */
  #mostHeld(kind: Claim["kind"]): number {
    const nowMs = this.#options.nowMs();
    const sinceMs = nowMs - this.#options.windowMs * windowSlack - messageMsMax;
    let sum = 0;
    for (const { claims, admittedMs, more, tokens, cost, endedMs, isTold, isAdopted } of this.calls) {
      const amount = amountOf(claims, kind);
      if (amount === 0) continue;
      const isOver = isAdopted || (isTold && endedMs !== null && endedMs < nowMs - endingMsMax);
      if (kind === "window") sum += admittedMs <= sinceMs ? 0 : isOver ? (tokens ?? amount) : amount;
      else if (kind === "gauge") sum += isOver ? 0 : amount;
      else sum += isOver ? cost : amount + more + cost;
    }
    return sum;
  }
}

function amountOf(claims: readonly Claim[], kind: Claim["kind"]): number {
  return claims.find((claim) => claim.kind === kind)?.amount ?? 0;
}

function refusal({ kind, amount, limit }: Claim, peak: number, { used }: ClaimState): string {
  return `${amount} of a ${kind} were refused, although never more than ${peak} of ${limit} was taken meanwhile (counted: ${used})`;
}
