import { bounds } from "#core/index.ts";
import type { Claim } from "#ports/index.ts";
import { seedArgs } from "./reservation.ts";

/** A call's usage is remembered for the longest window; its entry is in the journal within the second value. */
const redisUsesKeptMs = 63_000;
const redisStoredSlackMs = 1_000;

interface Use {
  readonly key: string;
  readonly windowMs: number;
  /** When the last of these calls was admitted: all count as of then, so that none leaves its window early. */
  takenMs: number;
  amount: number;
}

interface Ending {
  readonly ended: boolean;
  readonly claims: readonly Claim[];
  readonly takenMs: number;
}

/** What ended within a moment. */
interface Slice {
  readonly firstMs: number;
  lastMs: number;
  /** When it was found that the ledger has all of it; null: it may not have it yet. */
  storedMs: number | null;
  readonly uses: Map<string, Use>;
}

/**
 * What ended calls of this process used of rates lately. A counter that is emptied is seeded from the ledger; what was not there
 * when it was read is told by the process that served it. Times are monotonic milliseconds.
 */
export class RecentUses {
  #slices: Slice[] = [];

  /** A reservation ends. `actual[i]`: what claim i used; left out, what it reserved. */
  note({ ended, claims, takenMs }: Ending, actual: readonly number[], atMs: number): void {
    if (ended) return;
    for (const [index, { kind, key, windowMs, amount }] of claims.entries()) {
      if (kind !== "window") continue;
      const given = actual[index] ?? Number.NaN;
      const used = Number.isFinite(given) && given >= 0 ? Math.round(given) : amount;
      // What a call used beyond its reservation counts from its end on.
      this.#add(key, windowMs, Math.min(used, amount), takenMs, atMs);
      this.#add(key, windowMs, used - amount, atMs, atMs);
    }
  }

  /** The ledger has all that was settled until then. */
  stored(untilMs: number, atMs: number): void {
    for (const slice of this.#slices) {
      if (slice.storedMs === null && slice.lastMs + redisStoredSlackMs < untilMs) slice.storedMs = atMs;
    }
  }

  /** As the script `seed` reads them: those that may not have been in the ledger at `readMs`. */
  seedsSince(readMs: number, atMs: number): readonly (readonly string[])[] {
    this.#forget(atMs);
    return this.#slices
      .filter(({ storedMs }) => storedMs === null || storedMs >= readMs)
      .flatMap(({ uses }) => [...uses.values()])
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
    const name = `${Math.floor(takenMs / 1_000)} ${windowMs} ${key}`;
    const use = slice.uses.get(name);
    if (use === undefined) {
      slice.uses.set(name, { key, windowMs, takenMs, amount });
      return;
    }
    use.amount += amount;
    use.takenMs = Math.max(use.takenMs, takenMs);
  }

  /** What ended longer ago than a window lasts counts no more. */
  #forget(atMs: number): void {
    const first = this.#slices.findIndex(({ lastMs }) => atMs - lastMs <= redisUsesKeptMs);
    this.#slices = first === -1 ? [] : this.#slices.slice(first);
  }
}

interface ToldCost {
  readonly args: readonly string[];
  readonly atMs: number;
}

/**
 * Costs that this process told and that may not be in the ledger yet: a counter that has lost what it was told is told them
 * again, since a reading of the ledger would not find them. Times are monotonic milliseconds.
 */
export class ToldCosts {
  #costs: ToldCost[] = [];

  note(args: readonly string[], atMs: number): void {
    if (this.#costs.length >= bounds.redisOutboxMax) this.#costs = this.#costs.slice(bounds.redisOutboxMax / 2);
    this.#costs.push({ args, atMs });
  }

  /** What was settled until then is in the ledger. */
  forgetUntil(atMs: number): void {
    const first = this.#costs.findIndex((cost) => cost.atMs >= atMs);
    this.#costs = first === -1 ? [] : this.#costs.slice(first);
  }

  /** As the script `spend` reads them. */
  argsAt(nowMs: number): readonly (readonly string[])[] {
    return this.#costs.map(({ args, atMs }) => [...args, String(Math.max(0, Math.round(nowMs - atMs)))]);
  }
}
