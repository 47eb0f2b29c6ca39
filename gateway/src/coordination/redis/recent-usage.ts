import { bounds } from "#core/index.ts";
import type { Claim } from "#ports/index.ts";
import { settledAmount } from "../tally.ts";
import { seedArgs } from "./reservation.ts";

/** The longest window, with slack. */
const recentUsageMs = 63_000;
/** An ended call's entry is in the journal within this time. */
const redisStoredSlackMs = 1_000;

interface Use {
  readonly key: string;
  readonly windowMs: number;
  /** When the latest of these calls was admitted. All count as of then, so that none leaves its window early. */
  takenMs: number;
  amount: number;
}

interface EndedReservation {
  readonly ended: boolean;
  readonly claims: readonly Claim[];
  readonly takenMs: number;
}

/** Usage of calls that ended within a short interval. */
interface Slice {
  readonly firstMs: number;
  lastMs: number;
  /** When the entries of these calls were found in the ledger; null: not yet. */
  storedMs: number | null;
  /** By key: one for each window and second of admission, the latest last. */
  readonly uses: Map<string, Use[]>;
}

/**
 * Rate usage of this process's calls that ended recently. A Redis that lost its data is seeded from the ledger; each process adds what the
 * ledger did not have yet. Times are monotonic milliseconds.
 */
export class RecentUsage {
  #slices: Slice[] = [];

  /** `actual[i]`: usage of claim i; missing: as reserved. */
  record({ ended, claims, takenMs }: EndedReservation, actual: readonly number[], atMs: number): void {
    if (ended) return;
    for (let index = 0; index < claims.length; index++) {
      const { kind, key, windowMs, amount } = claims[index] as Claim;
      if (kind !== "window") continue;
      const used = Math.round(settledAmount(actual, index, amount));
      // Use beyond the reservation counts from the end of the call.
      this.#add(key, windowMs, Math.min(used, amount), takenMs, atMs);
      this.#add(key, windowMs, used - amount, atMs, atMs);
    }
  }

  /** Everything settled before `untilMs` is in the ledger. */
  markStored(untilMs: number, atMs: number): void {
    for (const slice of this.#slices) {
      if (slice.storedMs === null && slice.lastMs + redisStoredSlackMs < untilMs) slice.storedMs = atMs;
    }
  }

  /** Arguments of the script `seed` for what may have been missing from the ledger at `readMs`. */
  seedsSince(readMs: number, atMs: number): readonly (readonly string[])[] {
    this.#forget(atMs);
    return this.#slices
      .filter(({ storedMs }) => storedMs === null || storedMs >= readMs)
      .flatMap(({ uses }) => [...uses.values()].flat())
      .map(({ key, amount, takenMs, windowMs }) => seedArgs(key, amount, atMs - takenMs, windowMs));
  }

  #add(key: string, windowMs: number, amount: number, takenMs: number, atMs: number): void {
    if (amount <= 0) return;
    let slice = this.#slices.at(-1);
    if (slice === undefined || slice.storedMs !== null || atMs - slice.firstMs >= bounds.redisWatchMs) {
      this.#forget(atMs);
      slice = { firstMs: atMs, lastMs: atMs, storedMs: null, uses: new Map() };
      this.#slices.push(slice);
    }
    slice.lastMs = atMs;
    const uses = slice.uses.get(key);
    const second = Math.floor(takenMs / 1_000);
    const use = uses?.findLast((one) => one.windowMs === windowMs && Math.floor(one.takenMs / 1_000) === second);
    if (use !== undefined) {
      use.amount += amount;
      use.takenMs = Math.max(use.takenMs, takenMs);
    } else if (uses !== undefined) uses.push({ key, windowMs, takenMs, amount });
    else slice.uses.set(key, [{ key, windowMs, takenMs, amount }]);
  }

  #forget(atMs: number): void {
    const first = this.#slices.findIndex(({ lastMs }) => atMs - lastMs <= recentUsageMs);
    this.#slices = first === -1 ? [] : this.#slices.slice(first);
  }
}

/** The cost of an attempt in one budget. `attempt`: its name in the scripts. */
export interface BudgetCost {
  readonly key: string;
  readonly periodStart: number;
  readonly attempt: string;
  readonly amount: number;
  /** When it was settled. */
  readonly atMs: number;
}

/** Arguments of the script `spend`, without the age. */
export function spendArgs({ key, periodStart, attempt, amount }: BudgetCost): readonly string[] {
  return [key, String(periodStart), attempt, String(amount)];
}

/**
 * Costs that this process sent and that may not be in the ledger yet: a Redis that lost its data is sent them again, since a reading
 * of the ledger would miss them. Times are monotonic milliseconds.
 */
export class RecentCosts {
  #costs: BudgetCost[] = [];

  note(cost: BudgetCost): void {
    if (this.#costs.length >= bounds.redisOutboxMax) this.#costs = this.#costs.slice(bounds.redisOutboxMax / 2);
    this.#costs.push(cost);
  }

  forgetUntil(atMs: number): void {
    const first = this.#costs.findIndex((cost) => cost.atMs >= atMs);
    this.#costs = first === -1 ? [] : this.#costs.slice(first);
  }

  /** Arguments of the script `spend`. */
  argsAt(nowMs: number): readonly (readonly string[])[] {
    return this.#costs.map((cost) => [...spendArgs(cost), String(Math.max(0, Math.round(nowMs - cost.atMs)))]);
  }
}
