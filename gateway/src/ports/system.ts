import type { CallSignal, MemoryOwner } from "#core/index.ts";

/** `now`: Unix milliseconds, may jump. `monotonic`: milliseconds with fractions, never goes back. */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** The returned function cancels it. */
  after(delayMs: number, act: () => void): () => void;
}

/** Time-ordered, prefixed, unique: `req_`, `att_`, `key_` … */
export interface Ids {
  next(prefix: string): string;
}

/** A number in [0, 1). */
export interface Chance {
  unit(): number;
}

/** Work done in threads to keep the event loop free. */
export interface Offload {
  /**
   * Runs an order in a thread and resolves to its reply, both plain values. `moved` buffers are transferred, not copied. `size` (bytes)
   * decides how long the work may take. Keys take turns; `owner` null: not a caller's work. Rejects with rate_limit_exceeded (too much
   * work of one key or workspace waits), overloaded (too much work waits, or timeout), client_closed (aborted before it began) or
   * internal_error (the thread died).
   */
  run(
    order: object,
    size: number,
    moved: readonly ArrayBuffer[],
    { signal, owner }: { readonly signal: CallSignal | null; readonly owner: MemoryOwner | null },
  ): Promise<unknown>;
  /** Rejects work that waits or runs. */
  close(): Promise<void>;
}
