import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/**
 * Tasks of which the vendor says that there are none such. A single such answer may be a new task that is not everywhere
 * yet, or a vendor's bad moment; it is believed when nothing else was heard for a while. Kept in memory: a restart begins
 * the wait anew.
 */
export class GoneWatch {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when it has been said for long enough. */
  said(taskId: string): boolean {
    const nowMs = this.#clock.monotonic();
    const since = this.#since.get(taskId);
    if (since !== undefined) return nowMs - since >= bounds.taskGoneMs;
    if (this.#since.size < bounds.taskSlotsMax) this.#since.set(taskId, nowMs);
    return false;
  }

  /** Something else was heard of it, or it is over. */
  clear(taskId: string): void {
    this.#since.delete(taskId);
  }
}
