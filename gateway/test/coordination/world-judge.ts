import type { Claim, ClaimState, Refused, Reserved } from "#ports/index.ts";

/** An admitted call. Times are milliseconds of the world's clock; null: not yet. */
export interface Call {
  readonly id: string;
  readonly process: number;
  readonly claims: readonly Claim[];
  readonly admittedMs: number;
  readonly reserved: Reserved;
  /** The top-ups of its budget. */
  more: number;
  /** Its usage of the window; null while it runs. */
  tokens: number | null;
  cost: number;
  endedMs: number | null;
  /** Its process knows that it ended, and has reported it if the counter requires that. */
  isReported: boolean;
  isDead: boolean;
  deadMs: number | null;
  /** Its process is dead and its journal adopted. */
  isAdopted: boolean;
}

/** A request in flight: the most that others may have held of each claim's limit meanwhile. */
interface Pending {
  readonly process: number;
  readonly claims: readonly Claim[];
  readonly peaks: number[];
}

export interface JudgeOptions {
  readonly nowMs: () => number;
  readonly windowMs: number;
  /** Whether calls on a disconnected process count. After its lease, a process is treated as dead. */
  readonly countsPlaces: boolean;
}

/** One slice of the counter's window and one of a share's, and the maximum age of a message. */
const windowSlack = 1 + 1 / 60 + 1 / 240;
const messageMsMax = 250;
/** A call that ended this recently may still be in flight: its cost may count before its hold is released. */
const endingMsMax = 100;

/**
 * Checks both directions for every answer. No more than a limit was admitted, at that moment or, for late answers, at any
 * later one. And no call was refused while enough of the limit was free, or idle in a share, during the whole request.
 */
export class WorldJudge {
  readonly calls: Call[] = [];
  readonly #options: JudgeOptions;
  readonly #pending = new Map<string, Pending>();
  #excusedUntilMs = { window: 0, gauge: 0, budget: 0 };
  /** Refusals that were checked. */
  judged = 0;
  /** Nothing is checked after this until the judge is replaced. */
  isSuspended = false;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** Accepts unnecessary refusals until then, for one kind of limit or all. */
  excuseRefusals(untilMs: number, kinds: readonly Claim["kind"][] = ["window", "gauge", "budget"]): void {
    for (const kind of kinds) this.#excusedUntilMs[kind] = Math.max(this.#excusedUntilMs[kind], untilMs);
  }

  requested(id: string, claims: readonly Claim[], process: number): void {
    this.#pending.set(id, { process, claims, peaks: claims.map(() => 0) });
    this.#raisePeaks();
  }

  isAsking(process: number): boolean {
    return [...this.#pending.values()].some((pending) => pending.process === process);
  }

  /** The request was neither admitted nor refused. */
  withdrawn(id: string): void {
    this.#pending.delete(id);
  }

  admitted(call: Call): void {
    this.#pending.delete(call.id);
    this.calls.push(call);
    this.#raisePeaks();
    if (this.isSuspended) return;
    this.#check(call.admittedMs);
    for (const { admittedMs } of this.calls) if (admittedMs > call.admittedMs) this.#check(admittedMs);
  }

  refused(id: string, { index, reason, state }: Refused): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    const claim = pending?.claims[index];
    if (pending === undefined || claim === undefined || reason !== "limit" || this.isSuspended) return;
    if (this.#options.nowMs() < this.#excusedUntilMs[claim.kind]) return;
    this.judged++;
    const peak = pending.peaks[index] ?? Number.NaN;
    if (peak + claim.amount <= claim.limit) throw new Error(refusal(claim, peak, state));
  }

  /** A call holds more of its budget than before. */
  toppedUp(call: Call): void {
    this.#raisePeaks();
    const limit = call.claims.find(({ kind }) => kind === "budget")?.limit ?? 0;
    const sum = this.calls.reduce((all, each) => all + this.#heldBy(each, "budget", this.#options.nowMs()), 0);
    if (!this.isSuspended && call.more > 0 && sum > limit) throw new Error(`a top-up made it ${sum} of ${limit}`);
  }

  /** No limit has admitted more than it allows at this moment. */
  #check(atMs: number): void {
    const latest = this.calls.filter(({ admittedMs }) => admittedMs === atMs).flatMap(({ claims }) => claims);
    for (const [kind, claims] of Map.groupBy(latest, (claim) => claim.kind)) {
      if (kind === "gauge" && !this.#options.countsPlaces) continue;
      // A request made before the limit was lowered may be admitted at the same moment.
      const limit = Math.max(...claims.map((claim) => claim.limit));
      const sum = this.calls.reduce((all, call) => all + this.#heldBy(call, kind, atMs), 0);
      if (sum > limit) throw new Error(`${sum} of ${limit} were admitted by a ${kind}`);
    }
  }

  /** The amount of a limit that a call takes at a moment. */
  #heldBy({ admittedMs, claims, cost, more, tokens, endedMs, deadMs, isAdopted }: Call, kind: string, atMs: number) {
    const claim = claims.find((each) => each.kind === kind);
    if (claim === undefined || admittedMs > atMs) return 0;
    const hasEnded = endedMs !== null && endedMs <= atMs;
    if (kind === "window") {
      if (admittedMs <= atMs - this.#options.windowMs) return 0;
      return hasEnded ? Math.min(claim.amount, tokens ?? claim.amount) : claim.amount;
    }
    if (kind === "gauge") return hasEnded || (deadMs !== null && deadMs <= atMs) ? 0 : claim.amount;
    // Money stays held until the call's cost is known.
    return hasEnded || isAdopted ? cost : claim.amount + more;
  }

  #raisePeaks(): void {
    if (this.#pending.size === 0) return;
    for (const kind of ["window", "gauge", "budget"] as const) {
      const held = this.#mostHeld(kind);
      const requested = [...this.#pending.values()].reduce((sum, { claims }) => sum + amountOf(claims, kind), 0);
      for (const { claims, peaks } of this.#pending.values()) {
        const index = claims.findIndex((claim) => claim.kind === kind);
        if (index < 0) continue;
        peaks[index] = Math.max(peaks[index] ?? 0, held + requested - amountOf(claims, kind));
      }
    }
  }

  /** The most that the shared counter may count now for admitted calls. */
  #mostHeld(kind: Claim["kind"]): number {
    const nowMs = this.#options.nowMs();
    const sinceMs = nowMs - this.#options.windowMs * windowSlack - messageMsMax;
    let sum = 0;
    for (const { claims, admittedMs, more, tokens, cost, endedMs, isReported, isAdopted } of this.calls) {
      const amount = amountOf(claims, kind);
      if (amount === 0) continue;
      const isOver = isAdopted || (isReported && endedMs !== null && endedMs < nowMs - endingMsMax);
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
