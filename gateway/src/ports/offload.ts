/** Work that would hold up the event loop, done in threads of their own. */
export interface Offload {
  /**
   * The reply to an order. Both are plain values; the buffers in `moved` are moved, not copied, and are empty here
   * afterwards. `size` in bytes says how long the work may take. Rejects with Failure: overloaded when too much waits or it
   * takes too long, client_closed when the signal ends before it began, internal_error when its thread died.
   */
  run(order: object, size: number, moved: readonly ArrayBuffer[], signal: AbortSignal | null): Promise<unknown>;
  /** What waits and what runs is refused. */
  close(): Promise<void>;
}
