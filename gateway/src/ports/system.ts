import type { CallSignal, MemoryOwner } from "#core/index.ts";

/** Time. `now` is Unix milliseconds and may jump; `monotonic` is milliseconds with fractions and never goes back. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Runs `act` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, act: () => void): () => void;
}

/** Time-ordered, prefixed, unique: `req_`, `att_`, `key_` … */
export interface Ids {
  next(prefix: string): string;
}

/** Chance: a number in [0, 1). */
export interface Chance {
  unit(): number;
}

/** Work that would hold up the event loop, done in threads of their own. */
export interface Offload {
  /**
   * Runs an order in a thread and resolves to its reply. Both are plain values. The buffers in `moved` are moved, not
   * copied: afterwards they are empty here. `size` (bytes) decides how long the work may take. Keys take turns; `owner`: null for
   * work that is no caller's. Rejects with Failure: rate_limit_exceeded when too much work of one key or workspace waits, overloaded when too much work waits or it takes too long, client_closed when the signal ends before it began,
   * internal_error when its thread died.
   */
  run(
    order: object,
    size: number,
    moved: readonly ArrayBuffer[],
    { signal, owner }: { readonly signal: CallSignal | null; readonly owner: MemoryOwner | null },
  ): Promise<unknown>;
  /** Ends the threads. Work that waits or runs is rejected. */
  close(): Promise<void>;
}
