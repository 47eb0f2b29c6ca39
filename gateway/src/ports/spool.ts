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

/** A multipart form on its way upstream: the caller's own bytes, with only the model's name replaced. */
export interface FormBody {
  readonly contentType: string;
  /** How many bytes the form has with the name of this model. */
  size(upstreamModel: string): number;
  /** The form for this model, read anew for each attempt. */
  open(upstreamModel: string): ReadableStream<Uint8Array>;
  /** The boundary between its parts. */
  readonly boundary: string;
  /**
   * The caller's own bytes, for an upstream that takes no forms. Throws Failure unsupported_by_model (to be tried
   * elsewhere) when there are more than `bytesMax`.
   */
  bytes(bytesMax: number): Promise<Uint8Array>;
  /** Releases the body. Never throws, and may be called again. */
  discard(): void;
}

export interface FormContent {
  /** In the order of the form; a name may stand several times. */
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
  /** As the form says. If it does not, as the first bytes show. null: not known. */
  readonly mediaType: string | null;
  /** In base64. */
  readonly data: string;
}
