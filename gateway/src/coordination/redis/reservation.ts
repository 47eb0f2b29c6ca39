import type { Claim, ClaimState, Reserved } from "#ports/index.ts";

/** What is asked for. `lasts`: it will belong to no process. */
export interface Asked {
  readonly id: string;
  readonly claims: readonly Claim[];
  readonly lasts: boolean;
}

/** The same, and when it was by the monotonic clock. */
export interface TakenAsk extends Asked {
  readonly takenMs: number;
}

/** A reservation of this process, as it is told to the shared counter, and told again when that has lost it. */
export class SharedReservation implements Reserved {
  readonly granted = true;
  readonly id: string;
  readonly claims: readonly Claim[];
  readonly states: readonly ClaimState[];
  /** By the monotonic clock of this process. */
  readonly takenMs: number;
  /** It belongs to no process. */
  readonly lasts: boolean;
  held: number;
  ended = false;

  constructor({ id, claims, takenMs, lasts }: TakenAsk, states: readonly ClaimState[], held: number) {
    this.id = id;
    this.lasts = lasts;
    this.claims = claims;
    this.states = states;
    this.held = held;
    this.takenMs = takenMs;
  }

  get ticket(): object {
    return this;
  }

  /** What the script `restore` is told of it. */
  restoreArgs(nowMs: number): readonly string[] {
    const ageMs = Math.max(0, Math.floor(nowMs - this.takenMs));
    const claims = this.claims.flatMap((claim) => claimArgs(claim, claim.kind === "budget" ? this.held : claim.amount));
    return [this.id, String(ageMs), String(this.claims.length), ...claims];
  }
}

/** The kinds of claims as scripts name them. */
export const kindLetters = { window: "w", gauge: "g", budget: "b" } as const;

/** A claim as scripts read it: seven words. */
export function claimArgs(claim: Claim, amount: number = claim.amount): readonly string[] {
  const { kind, key, limit, least, windowMs, periodStart } = claim;
  return [
    kindLetters[kind],
    key,
    numberText(limit),
    numberText(amount),
    numberText(least),
    String(windowMs),
    String(periodStart),
  ];
}

/** Lua reads `inf` and `nan` as what they are. */
export function numberText(amount: number): string {
  if (Number.isNaN(amount)) return "nan";
  return Number.isFinite(amount) ? String(amount) : amount > 0 ? "inf" : "-inf";
}

/** Words of an answer, from `at` on: used, freeInMs, held. */
export function stateFrom(answer: readonly unknown[], at: number, { kind, limit }: Claim): ClaimState {
  const used = Number(answer[at]);
  const freeInMs = Number(answer[at + 1]);
  return kind === "budget" ? { used, limit, freeInMs, held: Number(answer[at + 2]) } : { used, limit, freeInMs };
}

/** What the script `restore` is told of money that was set aside before. */
export function heldArgs(id: string, claims: readonly Claim[]): readonly string[] {
  return [id, "0", String(claims.length), ...claims.flatMap((claim) => claimArgs(claim))];
}

/** What the script `seed` is told. */
export function seedArgs(key: string, amount: number, ageMs: number, windowMs: number): readonly string[] {
  return [key, String(amount), String(Math.max(0, Math.floor(ageMs))), String(windowMs)];
}

/** Reservations of this process that have not ended, and which budgets they hold money of. */
export class LiveReservations {
  readonly #byId = new Map<string, SharedReservation>();
  readonly #budgets = new Map<string, number>();

  get size(): number {
    return this.#byId.size;
  }

  /** Places of limits on concurrency that they hold. */
  get places(): number {
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

  /** Whether one of them holds money of this budget. */
  holdMoneyOf(key: string, periodStart: number): boolean {
    return this.#budgets.has(nameOf(key, periodStart));
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

/** How long a process remembers a hold for a task that may not be stored yet. */
const redisLastingMs = 60_000;

/**
 * Reservations that belong to no process, as the process keeps them that made them: for the moment in which a counter that has
 * lost them could be told of them by nobody else, since their tasks are not stored yet.
 */
export class LatestHolds {
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
