import type { Claim, ClaimState, Reserved } from "#ports/index.ts";
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
