import { bounds, type TryWindow, tryWaitMs, windowNow } from "#core/index.ts";
import type { Clock, OpenTries, Tries, TryResult, TryRule } from "#ports/index.ts";

/** For an installation of one process. A restart resets the counts. */
export function createMemoryTries(clock: Pick<Clock, "monotonic">): OpenTries {
  return (rule) => new MemoryTries(rule, clock);
}

/** Bounded: windows that are not used up are evicted first, the oldest of them first. */
class MemoryTries implements Tries {
  readonly #rule: TryRule;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #windows = new Map<string, TryWindow>();

  constructor(rule: TryRule, clock: Pick<Clock, "monotonic">) {
    this.#rule = rule;
    this.#clock = clock;
  }

  async take(keys: readonly string[]): Promise<TryResult> {
    const now = this.#clock.monotonic();
    const windows = keys.map((key) => windowNow(this.#windows.get(key) ?? null, this.#rule, now));
    const waitMs = Math.max(0, ...windows.map((window) => tryWaitMs(window, this.#rule, now)));
    if (waitMs > 0) return { waitMs, isLast: false };
    for (const [index, window] of windows.entries()) {
      const key = keys[index] ?? "";
      if (window !== this.#windows.get(key)) this.#windows.delete(key);
      this.#windows.set(key, { ...window, count: window.count + 1 });
      if (this.#windows.size > bounds.triersMax) this.#forgetOne(key);
    }
    return { waitMs: 0, isLast: windows.some(({ count }) => count + 1 >= this.#rule.max) };
  }

  async giveBack(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const window = this.#windows.get(key);
      if (window !== undefined) this.#windows.set(key, { ...window, count: Math.max(0, window.count - 1) });
    }
  }

  async forget(key: string): Promise<void> {
    this.#windows.delete(key);
  }

  #forgetOne(exceptKey: string): void {
    let first: string | null = null;
    for (const [key, window] of this.#windows) {
      if (key === exceptKey) continue;
      first ??= key;
      if (window.count < this.#rule.max) {
        first = key;
        break;
      }
    }
    if (first !== null) this.#windows.delete(first);
  }
}
