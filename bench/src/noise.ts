import { machineStolenMs } from "./process-tree.ts";

/** A sample during which the host took more of the machine's cores than this says nothing of the contender. */
const stolenShareMax = 0.02;
/** On a host that always takes some, the last of so many samples counts as it is. */
const samplesMax = 3;

/** How quiet the machine was while we measured. */
export class Noise {
  /** What others used, as shares of all cores, one for each sample. */
  readonly shares: number[] = [];
  #taken = 0;
  #dropped = 0;
  readonly #stolenMs: () => number;
  readonly #nowMs: () => number;

  /** `stolenMs`: processor time that the host took away so far. */
  constructor(stolenMs: () => number = machineStolenMs, nowMs: () => number = () => performance.now()) {
    this.#stolenMs = stolenMs;
    this.#nowMs = nowMs;
  }

  /** Takes a sample, anew where the host took processor time away meanwhile. */
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

  /** How many samples were taken, and how many of them do not count. */
  tally(): { readonly taken: number; readonly dropped: number } {
    return { taken: this.#taken, dropped: this.#dropped };
  }
}
