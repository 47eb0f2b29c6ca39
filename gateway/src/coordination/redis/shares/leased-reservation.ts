import type { Claim, ClaimState, Refused, Reserved } from "#ports/index.ts";
import type { SharedReservation } from "../reservation.ts";
import type { Taking } from "./share.ts";

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

/**
 * Reserves what a leased reservation gets beside its shares. A budget that lets calls through when it cannot be counted gives more
 * then too, as it would to a new call.
 */
export async function annexed(
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
