import { BoundedMap } from "./bounded-map.ts";

/** Attempts for one key in a window. Times in milliseconds of any clock. */
export interface TryWindow {
  readonly count: number;
  readonly lengthMs: number;
  readonly endsAt: number;
}

interface TryWindowRule {
  readonly max: number;
  readonly windowMs: number;
  readonly windowMsMax: number;
}

/** The current window. It is twice as long as the last one if that was used up and ended less than its own length ago. */
export function windowNow(last: TryWindow | null, rule: TryWindowRule, now: number): TryWindow {
  if (last !== null && now < last.endsAt) return last;
  const isDoubled = last !== null && last.count >= rule.max && now < last.endsAt + last.lengthMs;
  const lengthMs = isDoubled ? Math.min(last.lengthMs * 2, rule.windowMsMax) : rule.windowMs;
  return { count: 0, lengthMs, endsAt: now + lengthMs };
}

/** How long the next attempt must wait, in milliseconds. */
export function tryWaitMs({ count, endsAt }: TryWindow, { max }: TryWindowRule, now: number): number {
  return count < max ? 0 : Math.max(0, endsAt - now);
}

export interface WindowCountsOptions {
  /** Counts of a key in a window, which starts with the first one. */
  readonly max: number;
  readonly windowMs: number;
  /** Keys in memory; the oldest are dropped. */
  readonly keysMax: number;
  readonly clock: { monotonic(): number };
}

interface Window {
  count: number;
  readonly endsAtMs: number;
}

/** Counts by key in windows of a fixed length, in memory. */
export class WindowCounts {
  readonly #options: WindowCountsOptions;
  readonly #windows: BoundedMap<string, Window>;

  constructor(options: WindowCountsOptions) {
    this.#options = options;
    const { keysMax, clock, windowMs } = options;
    this.#windows = new BoundedMap(keysMax, { life: { clock, ms: windowMs } });
  }

  /** Counts one and returns 0, or counts nothing and returns the milliseconds to wait. */
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

  /** Undoes the last count. */
  giveBack(key: string): void {
    const window = this.#windows.get(key);
    if (window !== undefined && window.count > 0) window.count--;
  }
}
