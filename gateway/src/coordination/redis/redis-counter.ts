import { bounds } from "#core/index.ts";
import type {
  AttemptCost,
  BudgetPeriodKey,
  Claim,
  ClaimState,
  Clock,
  Counter,
  Ids,
  Observer,
  Refused,
  Reserved,
  SharedHolds,
  Spending,
  SpendingStatus,
} from "#ports/index.ts";
import { settledAmount } from "../tally.ts";
import { Membership } from "./membership.ts";
import type { RedisCounterOptions } from "./options.ts";
import { earliest, Outbox } from "./outbox.ts";
import { type BudgetCost, RecentCosts, RecentUsage, spendArgs } from "./recent-usage.ts";
import {
  claimArgs,
  LiveReservations,
  numberText,
  RecentHolds,
  type ReservationRequest,
  readState,
  SharedReservation,
  seedArgs,
  type TimedRequest,
} from "./reservation.ts";
import { LocalShares } from "./shares/local-shares.ts";
import { LeasedReservation } from "./shares/share.ts";

/** Rejects with RedisUnusable if retrying is pointless. While the server is unreachable, it keeps trying in the background. */
export async function createRedisCounter(options: RedisCounterOptions): Promise<RedisCounter> {
  const counter = new RedisCounter(options);
  await counter.open();
  return counter;
}

interface SharedRefusal extends Refused {
  /** Part of the limit is leased to processes, and its recall has not started. */
  readonly isLeased: boolean;
}

/** Several limits of a call may need a recall, one after the other. */
const recallsPerReservation = 3;
/** How often a state is read again because a share was granted while it was read. */
const peeksMax = 3;

/** A counter that several processes share. */
export class RedisCounter implements Counter {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #observer: Pick<Observer, "log">;
  readonly #membership: Membership;
  readonly #outbox: Outbox;
  readonly #live = new LiveReservations();
  /** null: nothing is leased. */
  readonly #shares: LocalShares | null;
  readonly #recentHolds: RecentHolds;
  readonly #recentCosts = new RecentCosts();
  readonly #recentUsage = new RecentUsage();
  readonly #lag: ReadingLag;
  readonly shared: SharedHolds;
  #fullLoggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: RedisCounterOptions) {
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#observer = options.observer;
    const nowMs = (): number => this.#clock.monotonic();
    this.#membership = new Membership(options, {
      reservations: () => [...this.#live.values(), ...this.#recentHolds.latest()],
      slots: () => this.#live.heldSlots + (this.#shares?.heldSlots ?? 0),
      unsentSinceMs: () => earliest(this.#outbox.oldestMs, this.#shares?.unsentSinceMs ?? null),
      onDrained: (atMs) => {
        this.#recentCosts.forgetUntil(atMs);
        this.#recentUsage.markStored(atMs, this.#clock.monotonic());
      },
      notInLedger: (readMs) => ({
        costs: this.#recentCosts.argsAt(nowMs()),
        uses: this.#recentUsage.seedsSince(readMs, nowMs()),
      }),
      resendShares: async () => this.#shares?.onJoined(),
      onJoined: () => {
        void this.#shares?.onJoined();
        this.#outbox.flush();
      },
    });
    this.#recentHolds = new RecentHolds(nowMs);
    this.#outbox = new Outbox(nowMs, (script, args) => this.#membership.trySend(script, args));
    this.#shares = options.shares === false ? null : new LocalShares(this.#membership, options.clock, options.shares);
    this.#lag = new ReadingLag(options.clock);
    this.shared = this.#sharedParts();
  }

  #sharedParts(): SharedHolds {
    const lag = this.#lag;
    return {
      hold: (id, claims) => this.#reserve({ id, claims, outlivesProcess: true }),
      endHold: async (id) => {
        this.#recentHolds.ended(id);
        // Report costs first: money must not look free between the end of the hold and its cost.
        await this.#shares?.flush();
        const [done] = await this.#outbox.send("settle", [id], this.isUp);
        return done === 1;
      },
      sampleHolds: async (count) => {
        const words = await this.#membership.request("lasting", [String(count)]).catch(() => []);
        return Array.from({ length: words.length / 2 }, (_, at) => ({
          id: String(words[2 * at]),
          ageMs: Number(words[2 * at + 1]),
        }));
      },
      budgetKeys: async (scopes) => {
        const words = await this.#membership.request("budgetKeys", scopes).catch(() => []);
        return words.slice(1).map(String);
      },
      releaseOwner: async (owner, storedAgoMs) => {
        const args = [owner, storedAgoMs === null ? "" : String(Math.round(storedAgoMs))];
        while ((await this.#outbox.send("adopted", args, this.#membership.canSend))[0] !== 1);
      },
      get ledgerLagMs() {
        return lag.ms;
      },
    };
  }

  get outstanding(): number {
    return this.#live.size + (this.#shares?.outstanding ?? 0);
  }

  /** False while Redis is unreachable or not seeded yet. */
  get isUp(): boolean {
    return this.#membership.isUp;
  }

  /** Why it is not up, without secrets; null while it is. */
  get problem(): string | null {
    return this.#membership.problem;
  }

  /** How often the data in Redis were lost or replaced. */
  get epochs(): number {
    return this.#membership.epochs;
  }

  /** Settlements and costs that Redis has not confirmed yet. */
  get unsent(): number {
    return this.#outbox.size + (this.#shares?.unsent ?? 0);
  }

  /** Concurrency slots that running calls use although this process's lease has ended and others may be granted them. */
  get slotsBeyondLease(): number {
    return this.#membership.slotsBeyondLease;
  }

  open(): Promise<void> {
    return this.#membership.open();
  }

  /**
   * Orderly shutdown, bounded by the signal: returns shares and closes. The lease is given up early only if all settlements were
   * sent and are in the ledger; otherwise it lapses.
   */
  async leave(signal: AbortSignal = AbortSignal.timeout(bounds.flushMs)): Promise<void> {
    await this.#shares?.leave();
    if (this.outstanding === 0 && (await this.#membership.allDrained(signal, () => this.unsent === 0))) {
      await this.#membership.request("leave", [this.#membership.owner]).catch(() => undefined);
    }
    this.close();
  }

  /** Open reservations lapse with the lease; held money stays held until this process's journal is recovered. */
  close(): void {
    this.#shares?.close();
    this.#membership.close();
  }

  /** Synchronous when local shares suffice. */
  reserve(claims: readonly Claim[], id: string | null = null, isCall = false): Reserved | Promise<Reserved | Refused> {
    const shares = isCall ? (this.#shares?.sharesOf(claims) ?? null) : null;
    const leased = shares === null ? null : (this.#shares?.take(claims, shares) ?? null);
    if (leased !== null) return leased;
    return this.#reserve({ id: id ?? this.#ids.next("rsv_"), claims, outlivesProcess: false }, shares !== null);
  }

  recentState(claim: Claim): ClaimState | null {
    return this.#shares?.recentState(claim) ?? null;
  }

  /** Recalls idle shares from all processes before it refuses a call. */
  async #reserve(request: ReservationRequest, refills = false): Promise<SharedReservation | Refused> {
    const { claims } = request;
    await this.#shares?.returnIdleFor(claims);
    for (let turn = 0; ; turn++) {
      const answer = await this.#tryReserve({ ...request, takenMs: this.#clock.monotonic() });
      if (answer.granted) {
        // Less money was held than requested; the rest may be idle in shares.
        const money = claims.findLast(({ kind }) => kind === "budget")?.amount ?? 0;
        if (money > answer.held && this.#shares !== null) await this.#topUp(answer, money - answer.held, 0);
        if (refills) this.#shares?.requestMore();
      }
      if (answer.granted || !answer.isLeased || turn === recallsPerReservation) return answer;
      const claim = claims[answer.index];
      if (claim === undefined || !(await this.#recall(claim))) return answer;
    }
  }

  async #recall(claim: Claim): Promise<boolean> {
    if (this.#shares?.canRecall(claim) !== true) return false;
    await this.#shares.recall(claim).catch(() => undefined);
    return true;
  }

  async #tryReserve(request: TimedRequest): Promise<SharedReservation | SharedRefusal> {
    const { id, claims, outlivesProcess } = request;
    let answer: readonly unknown[];
    try {
      const args = [id, outlivesProcess ? "" : this.#membership.owner, ...claims.flatMap((claim) => claimArgs(claim))];
      answer = await this.#membership.request("reserve", args);
    } catch {
      return this.#decideWithoutCounter(request);
    }
    if (answer[0] !== 1) {
      const index = Number(answer[1]);
      const claim = claims[index];
      if (claim === undefined) throw new RangeError("The shared counter refused a claim it was not given.");
      const reason = answer[2] === "unknown" ? "unknown" : "limit";
      const state = this.#recordState(claim, readState(answer, 3, claim));
      return { granted: false, index, state, reason, isLeased: Number(answer[6]) > 0 };
    }
    const states = claims.map((claim, index) => this.#recordState(claim, readState(answer, 2 + 3 * index, claim)));
    const held = answer[1] === "inf" ? Number.POSITIVE_INFINITY : Number(answer[1]);
    return this.#keep(new SharedReservation(request, states, held));
  }

  topUp(ticket: object, amount: number, least: number): number | Promise<number> {
    if (ticket instanceof LeasedReservation) return this.#topUpLeased(ticket, amount, least);
    return this.#topUp(ticket, amount, least);
  }

  async #topUp(ticket: object, amount: number, least: number): Promise<number> {
    if (!(ticket instanceof SharedReservation) || ticket.ended) return 0;
    let more = 0;
    try {
      const open = ticket.claims.flatMap(({ kind, fail, key }) => (kind === "budget" && fail === "open" ? [key] : []));
      for (let turn = 0; more < amount && turn < 2; turn++) {
        const args = [ticket.id, numberText(amount - more), numberText(Math.max(0, least - more)), ...open];
        const [text, leased] = await this.#membership.request("topUp", args);
        more += Number(text);
        if (Number(leased) === 0) break;
        await Promise.all(ticket.claims.map((claim) => (claim.kind === "budget" ? this.#recall(claim) : undefined)));
      }
    } catch {
      const isOpen = ticket.claims.every(({ kind, fail }) => kind !== "budget" || fail === "open");
      if (more === 0) more = isOpen && amount > 0 ? amount : 0;
    }
    ticket.held += more;
    return more;
  }

  /** Reserves in Redis if local shares have too little. Resolves to the amount added to the hold. */
  async #topUpLeased(ticket: LeasedReservation, amount: number, least: number): Promise<number> {
    if (ticket.ended || !(amount > 0 && amount >= least)) return 0;
    if (this.#shares?.topUp(ticket, amount) === true) return amount;
    const claims = ticket.allocations.filter(({ claim }) => claim.kind === "budget").map(({ claim }) => claim);
    if (claims.length === 0) return 0;
    const wanted = claims.map((claim) => ({ ...claim, amount, least }));
    const reserve = (wantedClaims: readonly Claim[]) =>
      this.#reserve({ id: this.#ids.next("rsv_"), claims: wantedClaims, outlivesProcess: false });
    const supplement = await reserveSupplement(wanted, reserve);
    if (!supplement.granted) return 0;
    if (ticket.ended) {
      void this.settle(supplement, []);
      return 0;
    }
    ticket.supplements.push(supplement);
    ticket.held += supplement.held;
    return supplement.held;
  }

  settle(ticket: object, actual: readonly number[]): void | Promise<void> {
    if (!(ticket instanceof LeasedReservation)) return this.#settle(ticket, actual);
    this.#recentUsage.record(ticket, actual, this.#clock.monotonic());
    this.#shares?.settle(ticket, actual);
    if (ticket.supplements.length === 0) return;
    return Promise.all(ticket.supplements.map((supplement) => this.#settle(supplement, []))).then(() => undefined);
  }

  async #settle(ticket: object, actual: readonly number[]): Promise<void> {
    if (!(ticket instanceof SharedReservation)) return;
    if (!ticket.ended) {
      this.#recentUsage.record(ticket, actual, this.#clock.monotonic());
      ticket.ended = true;
      this.#live.delete(ticket.id);
      this.#recentHolds.ended(ticket.id);
    }
    const amounts = ticket.claims.map((_claim, index) => {
      // Empty text settles the claim with the reserved amount.
      const amount = settledAmount(actual, index, Number.NaN);
      return Number.isNaN(amount) ? "" : String(Math.round(amount));
    });
    await this.#outbox.send("settle", [ticket.id, ...amounts], this.isUp);
  }

  async beginPeriod(key: string, periodStart: number, anew = false): Promise<SpendingStatus> {
    try {
      const args = [key, String(periodStart), this.#membership.owner, anew ? "1" : "0", String(this.#clock.now())];
      const [known, lagMs] = await this.#membership.request("beginPeriod", args);
      if (known === 1) return "known";
      if (lagMs === -1) return "behind";
      this.#lag.note(Number(lagMs));
      return "unknown";
    } catch {
      return "unreachable";
    }
  }

  async setSpending(key: string, periodStart: number, spending: Spending): Promise<void> {
    const { amount, buckets, recent, cleanFrom, again } = spending;
    const spent = buckets?.map(([bucket, part]) => `@${bucket} ${Math.round(part)}`).join(",") ?? numberText(amount);
    const words = [spent, numberText(cleanFrom), again ? "1" : "0"];
    const costs = recent.flatMap((cost) => [attemptName(cost), String(cost.amount)]);
    await this.#membership.request("setSpending", [
      key,
      String(periodStart),
      this.#membership.owner,
      ...words,
      ...costs,
    ]);
  }

  /**
   * Returns true even if the cost is only queued. A reservation made in Redis is settled at once, so its cost must not wait for the
   * next share message.
   */
  spend(key: string, periodStart: number, cost: AttemptCost): boolean | Promise<boolean> {
    const { amount } = cost;
    const spent = { key, periodStart, attempt: attemptName(cost), amount, atMs: this.#clock.monotonic() };
    this.#recentCosts.note(spent);
    if (this.#live.holdMoneyOf(key, periodStart)) return this.#spend(spent);
    return this.#shares?.spend(spent) === true || this.#spend(spent);
  }

  async #spend(cost: BudgetCost): Promise<boolean> {
    try {
      const [counted] = await this.#outbox.send("spend", spendArgs(cost), this.isUp);
      return counted === 1;
    } catch (error) {
      this.#logFull(error);
      return true;
    }
  }

  async invalidateSpending(periods: readonly BudgetPeriodKey[]): Promise<void> {
    for (let from = 0; from < periods.length; from += bounds.redisRestoreMax) {
      const batch = periods.slice(from, from + bounds.redisRestoreMax);
      const args = batch.flatMap(({ key, periodStart }) => [key, String(periodStart)]);
      await this.#outbox.send("invalidateSpending", args, this.isUp);
    }
  }

  async seed(key: string, amount: number, at: number, windowMs: number): Promise<void> {
    await this.#membership.request("seed", seedArgs(key, amount, this.#clock.now() - at, windowMs));
  }

  async peek(claim: Claim): Promise<ClaimState> {
    try {
      await this.#shares?.flush();
      for (let turn = 0; ; turn++) {
        // Idle shares of this process count as free.
        const idle = this.#shares?.idleOf(claim) ?? 0;
        const answer = await this.#membership.request("peek", claimArgs({ ...claim, limit: claim.limit + idle }));
        // A share that was granted meanwhile is in the answer but not in `idle`.
        const isCurrent = (this.#shares?.idleOf(claim) ?? 0) <= idle;
        if (isCurrent || turn === peeksMax) return this.#recordState(claim, readState(answer, 0, claim));
      }
    } catch {
      // Admit it for now; the reservation decides.
      return { used: 0, limit: claim.limit, freeInMs: 0 };
    }
  }

  /** Applies each limit's `fail`. Admitted calls are reported to Redis when it is back. */
  #decideWithoutCounter(request: TimedRequest): SharedReservation | SharedRefusal {
    const { id, claims } = request;
    const index = claims.findIndex(({ fail, limit }) => fail === "closed" && limit !== Number.POSITIVE_INFINITY);
    const closed = claims[index];
    if (closed !== undefined) {
      // Only the answer may have been lost: release what Redis may have reserved.
      const nothing = claims.map(() => "0");
      this.#outbox.send("settle", [id, ...nothing], this.isUp).catch((error) => this.#logFull(error));
      const state = { used: 0, limit: closed.limit, freeInMs: bounds.redisRetryMsMax };
      return { granted: false, index, state, reason: "unreachable", isLeased: false };
    }
    const states = claims.map(({ limit }) => ({ used: 0, limit, freeInMs: 0 }));
    const held = Math.min(...claims.map(({ kind, amount }) => (kind === "budget" ? amount : Number.POSITIVE_INFINITY)));
    return this.#keep(new SharedReservation(request, states, held));
  }

  #recordState(claim: Claim, state: ClaimState): ClaimState {
    return this.#shares?.recordState(claim, state) ?? state;
  }

  #keep(reservation: SharedReservation): SharedReservation {
    if (reservation.outlivesProcess) this.#recentHolds.note(reservation);
    else this.#live.add(reservation);
    return reservation;
  }

  #logFull(error: unknown): void {
    const atMs = this.#clock.monotonic();
    if (atMs - this.#fullLoggedMs < bounds.counterFullLogMs) return;
    this.#fullLoggedMs = atMs;
    this.#observer.log("error", "Redis unavailable for too long; dropping costs from the shared counter", {
      waiting: this.#outbox.size,
      error,
    });
  }
}

/** A script finds the bucket of a rolling window in it. */
function attemptName({ attemptId, bucket }: AttemptCost): string {
  return bucket === undefined ? attemptId : `${attemptId}@${bucket}`;
}

/** Reserves the supplement of a leased reservation. Budgets with `fail: open` grant it even if their spending is unknown. */
async function reserveSupplement(
  claims: readonly Claim[],
  reserve: (claims: readonly Claim[]) => Promise<SharedReservation | Refused>,
): Promise<SharedReservation | Refused> {
  for (let wanted = claims; ; ) {
    const answer = await reserve(wanted);
    if (answer.granted || answer.reason !== "unknown") return answer;
    const refusing = wanted[answer.index];
    if (refusing?.fail !== "open" || refusing.limit === Number.POSITIVE_INFINITY) return answer;
    wanted = wanted.map((claim) => (claim === refusing ? { ...claim, limit: Number.POSITIVE_INFINITY } : claim));
  }
}

/** The longest lag reported recently, because a caller starts several readings one after the other and waits for the longest. */
class ReadingLag {
  readonly #clock: Clock;
  #atMs = Number.NEGATIVE_INFINITY;
  ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(ms: number): void {
    const atMs = this.#clock.monotonic();
    if (ms < this.ms && atMs - this.#atMs <= bounds.budgetReadWaitMs) return;
    this.ms = ms;
    this.#atMs = atMs;
  }
}
