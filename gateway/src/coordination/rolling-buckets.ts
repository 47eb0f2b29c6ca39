import type { Claim } from "#ports/index.ts";

/** The spending of a rolling window by the start of its buckets, in Unix milliseconds. */
export class RollingBuckets {
  readonly #amounts = new Map<number, number>();
  #from = 0;

  /** False: the bucket has left the window. */
  add(bucket: number, amount: number): boolean {
    if (bucket < this.#from) return false;
    this.#amounts.set(bucket, (this.#amounts.get(bucket) ?? 0) + amount);
    return true;
  }

  /** Returns what was spent in the buckets that began earlier, which no longer count. */
  dropBefore(from: number): number {
    if (from <= this.#from) return 0;
    this.#from = from;
    let dropped = 0;
    for (const [bucket, amount] of this.#amounts) {
      if (bucket >= from) continue;
      dropped += amount;
      this.#amounts.delete(bucket);
    }
    return dropped;
  }

  clear(): void {
    this.#amounts.clear();
  }

  /**
   * Milliseconds from the start of the running bucket until enough has left the window for the claim's least amount, or until some has
   * if that is free now. 0: holds are in the way.
   */
  freeInMs({ limit, least, windowMs, rollingFrom = 0 }: Claim, used: number): number {
    let missing = Math.max(1, used + Math.max(1, least) - limit);
    for (const [bucket, amount] of [...this.#amounts].sort(([one], [other]) => one - other)) {
      missing -= amount;
      if (missing <= 0) return bucket - rollingFrom + windowMs;
    }
    return 0;
  }
}
