import type { CallSignal } from "#core/index.ts";
/** Work that would hold up the event loop, done in threads of their own. */
export interface Offload {
  /**
   * Runs an order in a thread and resolves to its reply. Both are plain values. The buffers in `moved` are moved, not
   * copied: afterwards they are empty here. `size` (bytes) decides how long the work may take. Rejects with Failure:
   * overloaded when too much work waits or it takes too long, client_closed when the signal ends before it began,
   * internal_error when its thread died.
   */
  run(order: object, size: number, moved: readonly ArrayBuffer[], signal: CallSignal | null): Promise<unknown>;
  /** Ends the threads. Work that waits or runs is rejected. */
  close(): Promise<void>;
}
