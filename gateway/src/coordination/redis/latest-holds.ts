import type { SharedReservation } from "./reservation.ts";

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
