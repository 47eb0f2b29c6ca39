import { bounds } from "#core/index.ts";
import type {
  AttemptCost,
  Claim,
  ClaimState,
  Clock,
  Counter,
  Ids,
  Meeting,
  Observer,
  Refused,
  Reserved,
  Spending,
} from "#ports/index.ts";
import { Membership } from "./membership.ts";
import type { RedisCounterOptions } from "./options.ts";
import { Outbox } from "./outbox.ts";
import { claimArgs, numberText, SharedReservation, seedArgs, stateFrom } from "./reservation.ts";

/** A counter that several processes share. */
export interface RedisCounter extends Counter {
  reserve(claims: readonly Claim[], id?: string): Promise<Reserved | Refused>;
  /** False while it cannot be reached, or is not seeded yet. */
  readonly isUp: boolean;
  /** Why it is not up, in one line without secrets. */
  readonly problem: string | null;
  /** How often its data were found lost, or to be another server's. */
  readonly epochs: number;
  /** Endings and costs that are not told yet. */
  readonly untold: number;
  /** Leaves what is still reserved to lapse. */
  close(): void;
}

/** Rejects with one clear line where no later try would do. A server that is away is tried until it is there. */
export async function createRedisCounter(options: RedisCounterOptions): Promise<RedisCounter> {
  const counter = new CounterInRedis(options);
  await counter.open();
  return counter;
}

class CounterInRedis implements RedisCounter {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #observer: Pick<Observer, "log">;
  readonly #membership: Membership;
  readonly #outbox: Outbox;
  /** Reservations of this process that have not ended, by id. */
  readonly #live = new Map<string, SharedReservation>();
  #toldFullMs = Number.NEGATIVE_INFINITY;

  constructor(options: RedisCounterOptions) {
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#observer = options.observer;
    this.#membership = new Membership(options, {
      live: () => this.#live,
      joined: () => this.#outbox.flush(),
    });
    this.#outbox = new Outbox((script, args) => this.#membership.tell(script, args));
  }

  get outstanding(): number {
    return this.#live.size;
  }

  get isUp(): boolean {
    return this.#membership.isUp;
  }

  get problem(): string | null {
    return this.#membership.problem;
  }

  get epochs(): number {
    return this.#membership.epochs;
  }

  get untold(): number {
    return this.#outbox.size;
  }

  open(): Promise<void> {
    return this.#membership.open();
  }

  close(): void {
    this.#membership.close();
  }

  async reserve(claims: readonly Claim[], id: string = this.#ids.next("rsv_")): Promise<SharedReservation | Refused> {
    const takenMs = this.#clock.monotonic();
    let answer: readonly unknown[];
    try {
      const args = [id, this.#membership.owner, ...claims.flatMap((claim) => claimArgs(claim))];
      answer = await this.#membership.ask("reserve", args);
    } catch {
      return this.#unanswered(claims, id, takenMs);
    }
    if (answer[0] !== 1) {
      const index = Number(answer[1]);
      const claim = claims[index];
      if (claim === undefined) throw new RangeError("The shared counter refused a claim it was not given.");
      const reason = answer[2] === "unknown" ? "unknown" : "limit";
      return { granted: false, index, state: stateFrom(answer, 3, claim), reason };
    }
    const states = claims.map((claim, index) => stateFrom(answer, 2 + 3 * index, claim));
    const held = answer[1] === "inf" ? Number.POSITIVE_INFINITY : Number(answer[1]);
    return this.#keep(new SharedReservation(id, claims, states, held, takenMs));
  }

  async topUp(ticket: object, amount: number, least: number): Promise<number> {
    if (!(ticket instanceof SharedReservation) || ticket.ended) return 0;
    let more = 0;
    try {
      const [text] = await this.#membership.ask("topUp", [ticket.id, numberText(amount), numberText(least)]);
      more = Number(text);
    } catch {
      const isOpen = ticket.claims.every(({ kind, fail }) => kind !== "budget" || fail === "open");
      more = isOpen && amount > 0 ? amount : 0;
    }
    ticket.held += more;
    return more;
  }

  async settle(ticket: object, actual: readonly number[]): Promise<void> {
    if (!(ticket instanceof SharedReservation)) return;
    if (!ticket.ended) {
      ticket.ended = true;
      this.#live.delete(ticket.id);
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
      const args = [key, String(periodStart), this.#membership.owner, anew ? "1" : "0"];
      const [known] = await this.#membership.ask("begin", args);
      return known === 1 ? "known" : "unknown";
    } catch {
      return "unreachable";
    }
  }

  async known(key: string, periodStart: number, { amount, recent, cleanFrom, again }: Spending): Promise<void> {
    await this.#membership.ask("known", [
      ...[
        key,
        String(periodStart),
        this.#membership.owner,
        numberText(amount),
        numberText(cleanFrom),
        again ? "1" : "0",
      ],
      ...recent.flatMap((cost) => [cost.attemptId, String(cost.amount)]),
    ]);
  }

  /** What cannot be told now is told when the counter is there again; then it is true, as if it were counted. */
  async spend(key: string, periodStart: number, { attemptId, amount }: AttemptCost): Promise<boolean> {
    try {
      const args = [key, String(periodStart), attemptId, String(amount)];
      const [counted] = await this.#outbox.tell("spend", args, this.isUp);
      return counted === 1;
    } catch (error) {
      this.#full(error);
      return true;
    }
  }

  async seed(key: string, amount: number, at: number, windowMs: number): Promise<void> {
    await this.#membership.ask("seed", seedArgs(key, amount, this.#clock.now() - at, windowMs));
  }

  async peek(claim: Claim): Promise<ClaimState> {
    try {
      return stateFrom(await this.#membership.ask("peek", claimArgs(claim)), 0, claim);
    } catch {
      // Whoever asks takes nothing yet; the reservation decides.
      return { used: 0, limit: claim.limit, freeInMs: 0 };
    }
  }

  /** Each limit does what it says. What is let through is told to the counter as soon as it is there again. */
  #unanswered(claims: readonly Claim[], id: string, takenMs: number): SharedReservation | Refused {
    const index = claims.findIndex(({ fail, limit }) => fail === "closed" && limit !== Number.POSITIVE_INFINITY);
    const closed = claims[index];
    if (closed !== undefined) {
      // The answer may be lost and not the question.
      const nothing = claims.map(() => "0");
      this.#outbox.tell("settle", [id, ...nothing], this.isUp).catch((error) => this.#full(error));
      const state = { used: 0, limit: closed.limit, freeInMs: bounds.redisRetryMsMax };
      return { granted: false, index, state, reason: "unreachable" };
    }
    const states = claims.map(({ limit }) => ({ used: 0, limit, freeInMs: 0 }));
    const held = Math.min(...claims.map(({ kind, amount }) => (kind === "budget" ? amount : Number.POSITIVE_INFINITY)));
    return this.#keep(new SharedReservation(id, claims, states, held, takenMs));
  }

  #keep(reservation: SharedReservation): SharedReservation {
    this.#live.set(reservation.id, reservation);
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
