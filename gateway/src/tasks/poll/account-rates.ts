import { BoundedMap, bounds, type TaskAccount } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

interface Reserved {
  readonly account: string;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

/**
 * How often one account is asked about its tasks. Looks stand in a row with equal distances; a task that gets a place far
 * ahead comes back then and finds its place kept, so that nobody is passed over however many tasks there are.
 */
export class AccountRates {
  readonly #clock: Clock;
  /** The next free place by account. */
  readonly #next = new BoundedMap<string, number>(bounds.taskAccountsMax);
  readonly #places = new Map<string, Reserved>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until this task may be looked at. */
  waitMs(taskId: string, account: TaskAccount, perSecond: number): number {
    const nowMs = this.#clock.monotonic();
    const name = nameOf(account);
    const kept = this.#places.get(taskId);
    if (kept?.account === name) {
      if (kept.atMs > nowMs) return kept.atMs - nowMs;
      this.#places.delete(taskId);
      return 0;
    }
    const atMs = this.#take(name, nowMs, perSecond);
    if (atMs <= nowMs) return 0;
    if (this.#places.size < bounds.taskSlotsMax) this.#places.set(taskId, { account: name, atMs });
    return atMs - nowMs;
  }

  /** For a poll that nobody waits for long: false when there is no place at once. */
  spare(account: TaskAccount, perSecond: number): boolean {
    const nowMs = this.#clock.monotonic();
    if ((this.#next.get(nameOf(account)) ?? 0) > nowMs) return false;
    this.#take(nameOf(account), nowMs, perSecond);
    return true;
  }

  forget(taskId: string): void {
    this.#places.delete(taskId);
  }

  #take(name: string, nowMs: number, perSecond: number): number {
    const atMs = Math.max(nowMs, this.#next.get(name) ?? nowMs);
    this.#next.set(name, atMs + 1_000 / Math.max(0.01, perSecond));
    return atMs;
  }
}

export const pollsPerSecondUsual = 5;

function nameOf({ providerId, baseUrl }: TaskAccount): string {
  return `${providerId}\n${baseUrl}`;
}
