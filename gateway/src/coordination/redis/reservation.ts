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
    const ageMs = Math.max(0, Math.round(nowMs - this.takenMs));
    const claims = this.claims.flatMap((claim) => claimArgs(claim, claim.kind === "budget" ? this.held : claim.amount));
    return [this.id, String(ageMs), String(this.claims.length), ...claims];
  }
}

const letters = { window: "w", gauge: "g", budget: "b" } as const;

/** A claim as scripts read it: seven words. */
export function claimArgs(claim: Claim, amount: number = claim.amount): readonly string[] {
  const { kind, key, limit, least, windowMs, periodStart } = claim;
  return [
    letters[kind],
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
  return [key, String(amount), String(Math.max(0, Math.round(ageMs))), String(windowMs)];
}
