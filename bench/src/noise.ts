import { machineStolenMs } from "./process-tree.ts";

/** Samples with a larger share of stolen CPU time are dropped. */
const stolenShareMax = 0.02;
/** If every sample is disturbed, the last of these counts. */
const samplesMax = 3;

/** Tracks other load on the machine during measurements. */
export class Noise {
  /** CPU used by other processes in each sample, as a share of all cores. */
  readonly shares: number[] = [];
  #taken = 0;
  #dropped = 0;
  readonly #stolenMs: () => number;
  readonly #nowMs: () => number;

  /** `stolenMs`: CPU time stolen by the host so far. */
  constructor(stolenMs: () => number = machineStolenMs, nowMs: () => number = () => performance.now()) {
    this.#stolenMs = stolenMs;
    this.#nowMs = nowMs;
  }

  /** Takes a sample. Repeats it if the host stole CPU time meanwhile. */
  async undisturbed<Value>(take: () => Promise<Value>): Promise<Value> {
    for (let sample = 1; ; sample++) {
      const begin = { stolenMs: this.#stolenMs(), at: this.#nowMs() };
      const value = await take();
      this.#taken++;
      const wallMs = (this.#nowMs() - begin.at) * navigator.hardwareConcurrency;
      if ((this.#stolenMs() - begin.stolenMs) / wallMs <= stolenShareMax || sample === samplesMax) return value;
      this.#dropped++;
    }
  }

  /** Number of samples taken, and number of dropped ones. */
  tally(): { readonly taken: number; readonly dropped: number } {
    return { taken: this.#taken, dropped: this.#dropped };
  }
}
