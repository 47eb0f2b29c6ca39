import { bounds } from "#core/index.ts";
import type {
  AttemptCost,
  BudgetPeriodKey,
  Claim,
  ClaimState,
  Clock,
  Counter,
  Ids,
  Meeting,
  Observer,
  Refused,
  Reserved,
  SharedParts,
  Spending,
} from "#ports/index.ts";
import { Membership } from "./membership.ts";
import type { RedisCounterOptions } from "./options.ts";
import { earlier, Outbox } from "./outbox.ts";
import { RecentUses, ToldCosts } from "./recent-uses.ts";
import {
  type Asked,
  claimArgs,
  LatestHolds,
  LiveReservations,
  numberText,
  SharedReservation,
  seedArgs,
  stateFrom,
  type TakenAsk,
} from "./reservation.ts";
import { LeasedReservation } from "./shares/share.ts";
import { ShareBook } from "./shares/share-book.ts";

/** Rejects with one clear line where no later try would do. A server that is away is tried until it is there. */
export async function createRedisCounter(options: RedisCounterOptions): Promise<RedisCounter> {
  const counter = new RedisCounter(options);
  await counter.open();
  return counter;
}

/** `isLeased`: some of what the claim needs was leased to processes that have not been asked for it. */
interface SharedRefusal extends Refused {
  readonly isLeased: boolean;
}

/** A call may be refused by one limit after the other. */
const recallsMax = 3;

/** A counter that several processes share. */
export class RedisCounter implements Counter {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #observer: Pick<Observer, "log">;
  readonly #membership: Membership;
  readonly #outbox: Outbox;
  readonly #live = new LiveReservations();
  /** null: nothing is leased. */
  readonly #shares: ShareBook | null;
  readonly #latest: LatestHolds;
  readonly #told = new ToldCosts();
  readonly #uses = new RecentUses();
  readonly #lag: ReadingLag;
  readonly shared: SharedParts;
  #toldFullMs = Number.NEGATIVE_INFINITY;

  constructor(options: RedisCounterOptions) {
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#observer = options.observer;
    const nowMs = (): number => this.#clock.monotonic();
    this.#membership = new Membership(options, {
      live: () => [...this.#live.values(), ...this.#latest.latest()],
      places: () => this.#live.places + (this.#shares?.places ?? 0),
      untoldSinceMs: () => earlier(this.#outbox.sinceMs, this.#shares?.untoldSinceMs ?? null),
      drained: (atMs) => {
        this.#told.forgetUntil(atMs);
        this.#uses.stored(atMs, this.#clock.monotonic());
      },
      unstored: (readMs) => ({ costs: this.#told.argsAt(nowMs()), uses: this.#uses.seedsSince(readMs, nowMs()) }),
      tellShares: async () => this.#shares?.joined(),
      joined: () => {
        void this.#shares?.joined();
        this.#outbox.flush();
      },
    });
    this.#latest = new LatestHolds(nowMs);
    this.#outbox = new Outbox(nowMs, (script, args) => this.#membership.tell(script, args));
    this.#shares = options.shares === false ? null : new ShareBook(this.#membership, options.clock, options.shares);
    this.#lag = new ReadingLag(options.clock);
    this.shared = this.#sharedParts();
  }

  #sharedParts(): SharedParts {
    const lag = this.#lag;
    return {
      hold: (id, claims) => this.#reserve({ id, claims, lasts: true }),
      endHold: async (id) => {
        this.#latest.ended(id);
        // What it has cost counts before it is freed.
        await this.#shares?.flush();
        const [done] = await this.#outbox.tell("settle", [id], this.isUp);
        return done === 1;
      },
      someHolds: async (count) => {
        const words = await this.#membership.ask("lasting", [String(count)]).catch(() => []);
        return Array.from({ length: words.length / 2 }, (_, at) => ({
          id: String(words[2 * at]),
          ageMs: Number(words[2 * at + 1]),
        }));
      },
      adopted: async (owner, storedAgoMs) => {
        const args = [owner, storedAgoMs === null ? "" : String(Math.round(storedAgoMs))];
        while ((await this.#outbox.tell("adopted", args, this.#membership.mayTell))[0] !== 1);
      },
      get ledgerLagMs() {
        return lag.ms;
      },
    };
  }

  get outstanding(): number {
    return this.#live.size + (this.#shares?.outstanding ?? 0);
  }

  /** False while it cannot be reached, or is not seeded yet. */
  get isUp(): boolean {
    return this.#membership.isUp;
  }

  /** Why it is not up, in one line without secrets. */
  get problem(): string | null {
    return this.#membership.problem;
  }

  /** How often its data were found lost, or to be another server's. */
  get epochs(): number {
    return this.#membership.epochs;
  }

  /** Endings and costs that the counter has not been told yet. */
  get untold(): number {
    return this.#outbox.size + (this.#shares?.untold ?? 0);
  }

  /** Places that running calls keep after this process's lease has ended, so that others may be granted them; 0 while it holds. */
  get placesBeyondLease(): number {
    return this.#membership.placesBeyondLease;
  }

  open(): Promise<void> {
    return this.#membership.open();
  }

  /**
   * At the orderly end of the process, within the signal: gives back what it was leased and closes. Others need not wait for its
   * lease once all that it settled is told and in the ledger; what could not be told lapses.
   */
  async leave(signal: AbortSignal = AbortSignal.timeout(bounds.flushMs)): Promise<void> {
    await this.#shares?.leave();
    if (this.outstanding === 0 && (await this.#membership.allDrained(signal, () => this.untold === 0))) {
      await this.#membership.ask("leave", [this.#membership.owner]).catch(() => undefined);
    }
    this.close();
  }

  /** Leaves what is still reserved to lapse; its money, until its journal is taken over. */
  close(): void {
    this.#shares?.close();
    this.#membership.close();
  }

  /** What shares of this process carry is answered at once. */
  reserve(
    claims: readonly Claim[],
    id: string = this.#ids.next("rsv_"),
    isCall = false,
  ): Reserved | Promise<Reserved | Refused> {
    const shares = isCall ? (this.#shares?.sharesOf(claims) ?? null) : null;
    const leased = shares === null ? null : (this.#shares?.take(claims, shares) ?? null);
    return leased ?? this.#reserve({ id, claims, lasts: false }, shares !== null);
  }

  glance(claim: Claim): ClaimState | null {
    return this.#shares?.glance(claim) ?? null;
  }

  /** Before anybody is refused, every process gives back what it was leased of that limit and does not use. */
  async #reserve(asked: Asked, refills = false): Promise<SharedReservation | Refused> {
    const { claims } = asked;
    await this.#shares?.yieldTo(claims);
    for (let turn = 0; ; turn++) {
      const answer = await this.#ask({ ...asked, takenMs: this.#clock.monotonic() });
      if (answer.granted) {
        // It holds less money than was asked for; some of what is missing may be idle in a share.
        const money = claims.findLast(({ kind }) => kind === "budget")?.amount ?? 0;
        if (money > answer.held && this.#shares !== null) await this.#topUp(answer, money - answer.held, 0);
        if (refills) this.#shares?.refill();
      }
      if (answer.granted || !answer.isLeased || turn === recallsMax) return answer;
      const claim = claims[answer.index];
      if (claim === undefined || !(await this.#recall(claim))) return answer;
    }
  }

  /** False: it is not to be had. */
  async #recall(claim: Claim): Promise<boolean> {
    if (this.#shares?.mayRecall(claim) !== true) return false;
    await this.#shares.recall(claim).catch(() => undefined);
    return true;
  }

  async #ask(asked: TakenAsk): Promise<SharedReservation | SharedRefusal> {
    const { id, claims, lasts } = asked;
    let answer: readonly unknown[];
    try {
      const args = [id, lasts ? "" : this.#membership.owner, ...claims.flatMap((claim) => claimArgs(claim))];
      answer = await this.#membership.ask("reserve", args);
    } catch {
      return this.#unanswered(asked);
    }
    if (answer[0] !== 1) {
      const index = Number(answer[1]);
      const claim = claims[index];
      if (claim === undefined) throw new RangeError("The shared counter refused a claim it was not given.");
      const reason = answer[2] === "unknown" ? "unknown" : "limit";
      const state = this.#seen(claim, stateFrom(answer, 3, claim));
      return { granted: false, index, state, reason, isLeased: Number(answer[6]) > 0 };
    }
    const states = claims.map((claim, index) => this.#seen(claim, stateFrom(answer, 2 + 3 * index, claim)));
    const held = answer[1] === "inf" ? Number.POSITIVE_INFINITY : Number(answer[1]);
    return this.#keep(new SharedReservation(asked, states, held));
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
        const [text, leased] = await this.#membership.ask("topUp", args);
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

  /** What its shares have too little for is reserved beside them. */
  async #topUpLeased(ticket: LeasedReservation, amount: number, least: number): Promise<number> {
    if (ticket.ended || !(amount > 0 && amount >= least)) return 0;
    if (this.#shares?.topUp(ticket, amount) === true) return amount;
    const claims = ticket.takings.filter(({ claim }) => claim.kind === "budget").map(({ claim }) => claim);
    if (claims.length === 0) return 0;
    const wanted = claims.map((claim) => ({ ...claim, amount, least }));
    const reserve = (asked: readonly Claim[]) =>
      this.#reserve({ id: this.#ids.next("rsv_"), claims: asked, lasts: false });
    const annex = await annexed(wanted, reserve);
    if (!annex.granted) return 0;
    if (ticket.ended) {
      void this.settle(annex, []);
      return 0;
    }
    ticket.annexes.push(annex);
    ticket.held += annex.held;
    return annex.held;
  }

  settle(ticket: object, actual: readonly number[]): void | Promise<void> {
    if (!(ticket instanceof LeasedReservation)) return this.#settle(ticket, actual);
    this.#uses.note(ticket, actual, this.#clock.monotonic());
    this.#shares?.settle(ticket, actual);
    if (ticket.annexes.length === 0) return;
    return Promise.all(ticket.annexes.map((annex) => this.#settle(annex, []))).then(() => undefined);
  }

  async #settle(ticket: object, actual: readonly number[]): Promise<void> {
    if (!(ticket instanceof SharedReservation)) return;
    if (!ticket.ended) {
      this.#uses.note(ticket, actual, this.#clock.monotonic());
      ticket.ended = true;
      this.#live.delete(ticket.id);
      this.#latest.ended(ticket.id);
    }
    const amounts = ticket.claims.map((_claim, index) => {
      // What is not told, or is not a number, stays as it was reserved: a caller's mistake gives no free quota.
      const amount = actual[index] ?? Number.NaN;
      return Number.isFinite(amount) && amount >= 0 ? String(Math.round(amount)) : "";
    });
    await this.#outbox.tell("settle", [ticket.id, ...amounts], this.isUp);
  }

  async begin(key: string, periodStart: number, anew = false): Promise<Meeting> {
    try {
      const args = [key, String(periodStart), this.#membership.owner, anew ? "1" : "0", String(this.#clock.now())];
      const [known, lagMs] = await this.#membership.ask("begin", args);
      if (known === 1) return "known";
      if (lagMs === -1) return "behind";
      this.#lag.note(Number(lagMs));
      return "unknown";
    } catch {
      return "unreachable";
    }
  }

  async known(key: string, periodStart: number, { amount, recent, cleanFrom, again }: Spending): Promise<void> {
    const words = [numberText(amount), numberText(cleanFrom), again ? "1" : "0"];
    const costs = recent.flatMap((cost) => [cost.attemptId, String(cost.amount)]);
    await this.#membership.ask("known", [key, String(periodStart), this.#membership.owner, ...words, ...costs]);
  }

  /**
   * What cannot be told now is told when the counter is there again; then it is true, as if it were counted. A reservation that no
   * share carries is ended at once, so its cost must not wait for the next message of a share.
   */
  spend(key: string, periodStart: number, cost: AttemptCost): boolean | Promise<boolean> {
    const args = [key, String(periodStart), cost.attemptId, String(cost.amount)];
    this.#told.note(args, this.#clock.monotonic());
    if (this.#live.holdMoneyOf(key, periodStart)) return this.#spend(args);
    return this.#shares?.spend(key, periodStart, cost) === true || this.#spend(args);
  }

  async #spend(args: readonly string[]): Promise<boolean> {
    try {
      const [counted] = await this.#outbox.tell("spend", args, this.isUp);
      return counted === 1;
    } catch (error) {
      this.#full(error);
      return true;
    }
  }

  async reread(periods: readonly BudgetPeriodKey[]): Promise<void> {
    for (let from = 0; from < periods.length; from += bounds.redisRestoreMax) {
      const batch = periods.slice(from, from + bounds.redisRestoreMax);
      const args = batch.flatMap(({ key, periodStart }) => [key, String(periodStart)]);
      await this.#outbox.tell("reread", args, this.isUp);
    }
  }

  async seed(key: string, amount: number, at: number, windowMs: number): Promise<void> {
    await this.#membership.ask("seed", seedArgs(key, amount, this.#clock.now() - at, windowMs));
  }

  async peek(claim: Claim): Promise<ClaimState> {
    try {
      await this.#shares?.flush();
      // What is idle here is as good as free.
      const limit = claim.limit + (this.#shares?.idleOf(claim) ?? 0);
      const answer = await this.#membership.ask("peek", claimArgs({ ...claim, limit }));
      return this.#seen(claim, stateFrom(answer, 0, claim));
    } catch {
      // Whoever asks takes nothing yet; the reservation decides.
      return { used: 0, limit: claim.limit, freeInMs: 0 };
    }
  }

  /** Each limit does what it says. What is let through is told to the counter as soon as it is there again. */
  #unanswered(asked: TakenAsk): SharedReservation | SharedRefusal {
    const { id, claims } = asked;
    const index = claims.findIndex(({ fail, limit }) => fail === "closed" && limit !== Number.POSITIVE_INFINITY);
    const closed = claims[index];
    if (closed !== undefined) {
      // The answer may be lost and not the question.
      const nothing = claims.map(() => "0");
      this.#outbox.tell("settle", [id, ...nothing], this.isUp).catch((error) => this.#full(error));
      const state = { used: 0, limit: closed.limit, freeInMs: bounds.redisRetryMsMax };
      return { granted: false, index, state, reason: "unreachable", isLeased: false };
    }
    const states = claims.map(({ limit }) => ({ used: 0, limit, freeInMs: 0 }));
    const held = Math.min(...claims.map(({ kind, amount }) => (kind === "budget" ? amount : Number.POSITIVE_INFINITY)));
    return this.#keep(new SharedReservation(asked, states, held));
  }

  #seen(claim: Claim, state: ClaimState): ClaimState {
    return this.#shares?.seen(claim, state) ?? state;
  }

  #keep(reservation: SharedReservation): SharedReservation {
    if (reservation.lasts) this.#latest.note(reservation);
    else this.#live.add(reservation);
    return reservation;
  }

  #full(error: unknown): void {
    const atMs = this.#clock.monotonic();
    if (atMs - this.#toldFullMs < bounds.counterFullTellMs) return;
    this.#toldFullMs = atMs;
    this.#observer.log("error", "The shared counter of limits is away for so long that costs cannot wait for it.", {
      waiting: this.#outbox.size,
      error,
    });
  }
}

/**
 * Reserves what a leased reservation gets beside its shares. A budget that lets calls through when it cannot be counted gives more
 * then too, as it would to a new call.
 */
async function annexed(
  claims: readonly Claim[],
  reserve: (claims: readonly Claim[]) => Promise<SharedReservation | Refused>,
): Promise<SharedReservation | Refused> {
  for (let asked = claims; ; ) {
    const answer = await reserve(asked);
    if (answer.granted || answer.reason !== "unknown") return answer;
    const refusing = asked[answer.index];
    if (refusing?.fail !== "open" || refusing.limit === Number.POSITIVE_INFINITY) return answer;
    asked = asked.map((claim) => (claim === refusing ? { ...claim, limit: Number.POSITIVE_INFINITY } : claim));
  }
}

/** The longest lag that readings were told of in the last moments: those that are made together begin one after the other. */
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
