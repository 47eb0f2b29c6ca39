/** A sum of whole numbers that stays exact beyond 2^53. */
export class ExactSum {
  #recent = 0;
  #rest = 0n;

  add(amount: number): void {
    this.#recent += amount;
    if (Math.abs(this.#recent) < recentMax) return;
    this.#rest += BigInt(this.#recent);
    this.#recent = 0;
  }

  addExactly(amount: bigint): void {
    this.#rest += amount;
  }

  get value(): bigint {
    return this.#rest + BigInt(this.#recent);
  }
}

/** One more amount of at most as much is still exact. */
const recentMax = 2 ** 51;
