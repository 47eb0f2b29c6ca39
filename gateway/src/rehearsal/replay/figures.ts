import { ExactSum } from "./exact-sum.ts";

/** Calls and costs of a model, an hour, a key or a person. */
export class Figures {
  calls = 0;
  refused = 0;
  readonly recorded = new ExactSum();
  readonly rehearsed = new ExactSum();

  get costs() {
    return { recorded_nano_usd: String(this.recorded.value), rehearsed_nano_usd: String(this.rehearsed.value) };
  }
}
