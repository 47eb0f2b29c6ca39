import type { Claim, ClaimState, Reserved } from "#ports/index.ts";

export interface ReservationRequest {
  readonly id: string;
  readonly claims: readonly Claim[];
  /** It belongs to no process and stays until it is ended explicitly. */
  readonly outlivesProcess: boolean;
}

export interface TimedRequest extends ReservationRequest {
  /** Monotonic milliseconds. */
  readonly takenMs: number;
}

/** A reservation in Redis. This process keeps it to report it again if Redis loses its data. */
export class SharedReservation implements Reserved {
  readonly granted = true;
  readonly id: string;
  readonly claims: readonly Claim[];
  readonly states: readonly ClaimState[];
  readonly takenMs: number;
  readonly outlivesProcess: boolean;
  held: number;
  ended = false;

  constructor({ id, claims, takenMs, outlivesProcess }: TimedRequest, states: readonly ClaimState[], held: number) {
    this.id = id;
    this.outlivesProcess = outlivesProcess;
    this.claims = claims;
    this.states = states;
    this.held = held;
    this.takenMs = takenMs;
  }

  get ticket(): object {
    return this;
  }

  /** Arguments of the script `restore`. */
  restoreArgs(nowMs: number): readonly string[] {
    const ageMs = Math.max(0, Math.floor(nowMs - this.takenMs));
    const claims = this.claims.flatMap((claim) => claimArgs(claim, claim.kind === "budget" ? this.held : claim.amount));
    return [this.id, String(ageMs), String(this.claims.length), ...claims];
  }
}

/** The kinds of claims in scripts. */
export const claimCodes = { window: "w", gauge: "g", budget: "b" } as const;

/** A claim as seven script arguments. */
export function claimArgs(claim: Claim, amount: number = claim.amount): readonly string[] {
  const { kind, key, limit, least, windowMs, periodStart, rollingFrom } = claim;
  return [
    claimCodes[kind],
    key,
    numberText(limit),
    numberText(amount),
    numberText(least),
    String(rollingFrom ?? windowMs),
    String(periodStart),
  ];
}

/** Lua's `tonumber` reads `inf` and `nan`. */
export function numberText(amount: number): string {
  if (Number.isNaN(amount)) return "nan";
  return Number.isFinite(amount) ? String(amount) : amount > 0 ? "inf" : "-inf";
}

/** Reads used, freeInMs and held from an answer, beginning at index `at`. */
export function readState(answer: readonly unknown[], at: number, claim: Claim): ClaimState {
  const { kind, limit, rollingFrom, windowMs } = claim;
  const used = Number(answer[at]);
  const free = Number(answer[at + 1]);
  // Of a rolling budget: the start of the last bucket that has to leave its window.
  const freeInMs = rollingFrom === undefined || free === 0 ? free : free - rollingFrom + windowMs;
  return kind === "budget" ? { used, limit, freeInMs, held: Number(answer[at + 2]) } : { used, limit, freeInMs };
}

/** Arguments of the script `restore` for a hold that was made before the epoch. */
export function heldArgs(id: string, claims: readonly Claim[]): readonly string[] {
  return [id, "0", String(claims.length), ...claims.flatMap((claim) => claimArgs(claim))];
}

/** Arguments of the script `seed`. */
export function seedArgs(key: string, amount: number, ageMs: number, windowMs: number): readonly string[] {
  return [key, String(amount), String(Math.max(0, Math.floor(ageMs))), String(windowMs)];
}

/** Open reservations of this process, and which budgets they hold money of. */
export class LiveReservations {
  readonly #byId = new Map<string, SharedReservation>();
  readonly #budgets = new Map<string, number>();

  get size(): number {
    return this.#byId.size;
  }

  /** Concurrency slots that they hold. */
  get heldSlots(): number {
    let places = 0;
    for (const { claims } of this.#byId.values()) {
      for (const { kind, amount } of claims) if (kind === "gauge") places += amount;
    }
    return places;
  }

  values(): Iterable<SharedReservation> {
    return this.#byId.values();
  }

  add(reservation: SharedReservation): void {
    if (this.#byId.has(reservation.id)) return;
    this.#byId.set(reservation.id, reservation);
    this.#count(reservation, 1);
  }

  delete(id: string): void {
    const reservation = this.#byId.get(id);
    if (reservation === undefined) return;
    this.#byId.delete(id);
    this.#count(reservation, -1);
  }

  holdMoneyOf(key: string, periodStart: number): boolean {
    return this.#budgets.size > 0 && this.#budgets.has(nameOf(key, periodStart));
  }

  #count({ claims }: SharedReservation, by: number): void {
    for (const { kind, key, periodStart } of claims) {
      if (kind !== "budget") continue;
      const name = nameOf(key, periodStart);
      const count = (this.#budgets.get(name) ?? 0) + by;
      if (count > 0) this.#budgets.set(name, count);
      else this.#budgets.delete(name);
    }
  }
}

function nameOf(key: string, periodStart: number): string {
  return `${key} ${periodStart}`;
}

/** How long a process remembers a new hold, because its task may not be stored yet. */
const redisLastingMs = 60_000;

/** Holds of tasks that may not be stored yet: if Redis loses its data, only the process that made them can report them. */
export class RecentHolds {
  readonly #latest = new Map<string, SharedReservation>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  note(reservation: SharedReservation): void {
    this.#forget();
    this.#latest.set(reservation.id, reservation);
  }

  ended(id: string): void {
    this.#latest.delete(id);
  }

  latest(): readonly SharedReservation[] {
    this.#forget();
    return [...this.#latest.values()];
  }

  #forget(): void {
    const beforeMs = this.#nowMs() - redisLastingMs;
    for (const [id, { takenMs }] of this.#latest) {
      if (takenMs >= beforeMs) return;
      this.#latest.delete(id);
    }
  }
}
