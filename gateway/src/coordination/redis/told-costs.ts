import { bounds } from "#core/index.ts";

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
