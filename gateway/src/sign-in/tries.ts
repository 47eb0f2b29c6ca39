import ipaddr from "ipaddr.js";
import { bounds, Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

interface Window {
  count: number;
  endsAtMs: number;
  lengthMs: number;
}

export interface TriesOptions {
  readonly max: number;
  readonly clock: Clock;
}

/**
 * Counts tries by account and by address. A window that was used up is followed by one twice as long, up to a day; after
 * a window that was not, or as much quiet again, it begins anew. Remembers a bounded number; those that are not used up
 * leave first, oldest first.
 */
export class Tries {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();

  constructor(options: TriesOptions) {
    this.#max = options.max;
    this.#clock = options.clock;
  }

  /** Counts one try against each key, or throws `rate_limit_exceeded` and counts nothing. */
  take(keys: readonly string[]): void {
    const windows = keys.map((key) => this.#window(key));
    const waitMs = Math.max(0, ...windows.map((window) => this.#waitMs(window)));
    if (waitMs > 0) throw tooMany(waitMs);
    for (const window of windows) window.count += 1;
  }

  /** Takes back one try that turned out well, or was none. */
  giveBack(keys: readonly string[]): void {
    for (const key of keys) {
      const window = this.#windows.get(key);
      if (window !== undefined) window.count = Math.max(0, window.count - 1);
    }
  }

  forget(key: string): void {
    this.#windows.delete(key);
  }

  /** Whether a key has just used up its window. */
  usedUp(key: string): boolean {
    return (this.#windows.get(key)?.count ?? 0) >= this.#max;
  }

  get size(): number {
    return this.#windows.size;
  }

  #window(key: string): Window {
    const nowMs = this.#clock.monotonic();
    const known = this.#windows.get(key);
    if (known !== undefined && nowMs < known.endsAtMs) return known;
    const again = known !== undefined && known.count >= this.#max && nowMs < known.endsAtMs + known.lengthMs;
    const lengthMs = again ? Math.min(known.lengthMs * 2, bounds.signInTriesMsMax) : bounds.signInTriesMs;
    const window = { count: 0, lengthMs, endsAtMs: nowMs + lengthMs };
    this.#windows.delete(key);
    this.#windows.set(key, window);
    if (this.#windows.size > bounds.signInTriersMax) this.#forgetOne(key);
    return window;
  }

  #waitMs(window: Window): number {
    return window.count < this.#max ? 0 : window.endsAtMs - this.#clock.monotonic();
  }

  #forgetOne(exceptKey: string): void {
    let first: string | null = null;
    for (const [key, window] of this.#windows) {
      if (key === exceptKey) continue;
      first ??= key;
      if (window.count < this.#max) {
        first = key;
        break;
      }
    }
    if (first !== null) this.#windows.delete(first);
  }
}

/** One caller of IPv6 has a whole /64 to choose from. */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return "address:unknown";
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return `address:${address.toString()}`;
  return `address:${(address as ipaddr.IPv6).parts.slice(0, 4).join(":")}`;
}

function tooMany(waitMs: number): Failure {
  const minutes = Math.ceil(waitMs / 60_000);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  return new Failure("rate_limit_exceeded", `Too many tries. Wait ${wait}, then try again.`, { retryAfterMs: waitMs });
}
