import type { Tally } from "./tally.ts";

/** Tallies of one kind by key, and the hand that goes round and round over them to forget those at rest. */
export class Shelf<T extends Tally> {
  readonly #tallies = new Map<string, T>();
  #hand: Iterator<string> = this.#tallies.keys();

  get size(): number {
    return this.#tallies.size;
  }

  find(key: string): T | undefined {
    return this.#tallies.get(key);
  }

  put(key: string, tally: T): T {
    this.#tallies.set(key, tally);
    return tally;
  }

  /** Looks at up to `steps` tallies and forgets those that nobody would miss. `pressed`: others find no room. */
  sweep(steps: number, atMs: number, pressed = false): void {
    for (let step = 0; step < steps; step++) {
      const next = this.#hand.next();
      if (next.done === true) {
        this.#hand = this.#tallies.keys();
        return;
      }
      const tally = this.#tallies.get(next.value);
      if (tally !== undefined && tally.holds === 0 && tally.atRest(atMs, pressed)) this.#tallies.delete(next.value);
    }
  }
}
