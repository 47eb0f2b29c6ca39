import type { MemoryOwner } from "#core/index.ts";

/** Stores bodies that are too large for memory while they arrive. */
export interface Spool {
  /** The owner may hold a share of the space. */
  open(owner: MemoryOwner): SpoolWriter;
}

/** An arriving body. One write at a time. */
export interface SpoolWriter {
  /**
   * Await it, to slow the sender down to the speed of the disk. Throws rate_limit_exceeded (429) if the key or workspace holds its share,
   * no_deployment_available (503) if there is no room, internal_error if the disk fails.
   */
  write(bytes: Uint8Array): Promise<void> | void;
  /** Ends writing. */
  end(): Promise<Spooled>;
  /** Discards what was written. Never throws; does nothing after `end`. */
  discard(): void;
}

/** A whole body. Uses space until discarded. */
export interface Spooled {
  readonly size: number;
  /** From `start` to `end` (exclusive), at the reader's speed. */
  read(start: number, end: number): ReadableStream<Uint8Array>;
  /** Running reads fail. Never throws; idempotent. */
  discard(): void;
}

/** A multipart form to send upstream: the caller's bytes, with the model's name replaced. */
export interface FormBody {
  readonly contentType: string;
  /** Size of the form with this model name. */
  size(upstreamModel: string): number;
  /** Opens the form for one attempt. */
  open(upstreamModel: string): ReadableStream<Uint8Array>;
  readonly boundary: string;
  /** The caller's bytes, for an upstream that takes no forms. Throws Failure unsupported_by_model if they exceed `bytesMax`. */
  bytes(bytesMax: number): Promise<Uint8Array>;
  /** Never throws; idempotent. */
  discard(): void;
}

export interface FormContent {
  /** In the order of the form; names may repeat. */
  readonly fields: readonly FormField[];
  readonly files: readonly FormFile[];
}

export interface FormField {
  readonly name: string;
  readonly value: string;
}

export interface FormFile {
  readonly name: string;
  readonly filename: string | null;
  /** From the form, else from its first bytes; null: unknown. */
  readonly mediaType: string | null;
  /** In base64. */
  readonly data: string;
}
