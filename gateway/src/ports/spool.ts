import type { MemoryOwner } from "#core/index.ts";

/** Stores bodies that are too large for memory. They are written as they arrive, and read as often as needed. */
export interface Spool {
  /** For a body of this owner, who may hold a share of the space. */
  open(owner: MemoryOwner): SpoolWriter;
}

/** One body that is arriving. One write at a time. */
export interface SpoolWriter {
  /**
   * Returns or resolves when the bytes are taken. Waiting for it slows the sender down to the speed of the disk. Throws
   * rate_limit_exceeded (429) when its key or workspace holds its share, no_deployment_available (503) when there is no room left,
   * internal_error when the disk fails.
   */
  write(bytes: Uint8Array): Promise<void> | void;
  /** The whole body. Nothing can be written afterwards. */
  end(): Promise<Spooled>;
  /** Discards what was written. Never throws. After `end` it does nothing. */
  discard(): void;
}

/** One whole body. It uses space until it is discarded. */
export interface Spooled {
  readonly size: number;
  /** The bytes from `start` to `end` (exclusive), read as the reader asks for them. */
  read(start: number, end: number): ReadableStream<Uint8Array>;
  /** Discards the body; running reads fail. Never throws, and may be called again. */
  discard(): void;
}
