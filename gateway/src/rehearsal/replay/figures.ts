import { ExactSum } from "./exact-sum.ts";

/** Calls and costs of a model, an hour, a key or a person. */
export class Figures {
  calls = 0;
  refused = 0;
  /** Of costs that do not change, which most do not. */
  readonly #same = new ExactSum();
  #changed: { readonly recorded: ExactSum; readonly rehearsed: ExactSum } | null = null;

  addCost(recorded: number, rehearsed: number): void {
    if (recorded === rehearsed) {
      this.#same.add(recorded);
      return;
    }
    this.#changed ??= { recorded: new ExactSum(), rehearsed: new ExactSum() };
    this.#changed.recorded.add(recorded);
    this.#changed.rehearsed.add(rehearsed);
  }

  include(other: Figures): void {
    this.calls += other.calls;
    this.refused += other.refused;
    this.#same.addExactly(other.#same.value);
    if (other.#changed === null) return;
    this.#changed ??= { recorded: new ExactSum(), rehearsed: new ExactSum() };
    this.#changed.recorded.addExactly(other.#changed.recorded.value);
    this.#changed.rehearsed.addExactly(other.#changed.rehearsed.value);
  }

  get recorded(): bigint {
    return this.#same.value + (this.#changed?.recorded.value ?? 0n);
  }

  get rehearsed(): bigint {
    return this.#same.value + (this.#changed?.rehearsed.value ?? 0n);
  }

  get costs() {
    return { recorded_nano_usd: String(this.recorded), rehearsed_nano_usd: String(this.rehearsed) };
  }
}
