import { BoundedMap } from "./bounded-map.ts";

export interface WindowCountsOptions {
  /** How often a key may be counted within a window, which begins with its first. */
  readonly max: number;
  readonly windowMs: number;
  /** How many keys are remembered; those of longest ago are forgotten first. */
  readonly keysMax: number;
  readonly clock: { monotonic(): number };
}

interface Window {
  count: number;
  readonly endsAtMs: number;
}

/** Counts by key, in windows of one length. In memory: a restart begins anew. */
export class WindowCounts {
  readonly #options: WindowCountsOptions;
  readonly #windows: BoundedMap<string, Window>;

  constructor(options: WindowCountsOptions) {
    this.#options = options;
    const { keysMax, clock, windowMs } = options;
    this.#windows = new BoundedMap(keysMax, { life: { clock, ms: windowMs } });
  }

  /** Counts one and gives 0, or gives the milliseconds until there is a place again and counts nothing. */
  take(key: string): number {
    const { clock, windowMs, max } = this.#options;
    const nowMs = clock.monotonic();
    let window = this.#windows.get(key);
    if (window === undefined) {
      window = { count: 0, endsAtMs: nowMs + windowMs };
      this.#windows.set(key, window);
    }
    if (window.count >= max) return window.endsAtMs - nowMs;
    window.count++;
    return 0;
  }

  /** Takes the last one back. */
  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window !== undefined && window.count > 0) window.count--;
  }
}
