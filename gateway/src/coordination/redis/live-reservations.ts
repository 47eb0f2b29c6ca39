import type { SharedReservation } from "./reservation.ts";

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
