import { BoundedMap } from "./bounded-map.ts";

/** What was tried with one key in its window. Times in milliseconds, by whichever clock whoever counts goes by. */
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

/**
 * The window that is in force now. One that was used up is followed by one twice as long; after a window that was not, or as much
 * quiet again, it begins anew.
 */
export function windowNow(known: TryWindow | null, rule: TryWindowRule, now: number): TryWindow {
  if (known !== null && now < known.endsAt) return known;
  const again = known !== null && known.count >= rule.max && now < known.endsAt + known.lengthMs;
  const lengthMs = again ? Math.min(known.lengthMs * 2, rule.windowMsMax) : rule.windowMs;
  return { count: 0, lengthMs, endsAt: now + lengthMs };
}

/** How long the next try has to wait. */
export function tryWaitMs({ count, endsAt }: TryWindow, { max }: TryWindowRule, now: number): number {
  return count < max ? 0 : Math.max(0, endsAt - now);
}

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
