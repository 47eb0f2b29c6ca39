/** Stores bytes by SHA-256, on disk or in a bucket; equal bytes are stored once. */
export interface BlobStore {
  /**
   * Resolves when at most `bytesMax` bytes are stored durably. Throws Failure request_too_large. `beforeStored` gets the hash,
   * and is awaited before the blob can be read, so that a row can name it first; if it throws, nothing is stored.
   */
  put(
    bytes: ReadableStream<Uint8Array>,
    bytesMax: number,
    signal: AbortSignal,
    beforeStored?: (info: BlobInfo) => Promise<void>,
  ): Promise<BlobInfo>;
  stat(hash: string): Promise<BlobInfo | null>;
  /** From `start` to `end` (exclusive), at the reader's speed; null: not found. */
  read(hash: string, start: number, end: number): Promise<ReadableStream<Uint8Array> | null>;
  /** The first bytes, to detect the file type. */
  head(hash: string, length: number): Promise<Uint8Array | null>;
  remove(hash: string): Promise<void>;
}

export interface BlobInfo {
  /** Lower-case hex. */
  readonly hash: string;
  readonly size: number;
}

export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** gzip-compressed; null if that would not be smaller. */
  readonly gzip: Uint8Array<ArrayBuffer> | null;
  /** Brotli-compressed, if the build created it. */
  readonly brotli: Uint8Array<ArrayBuffer> | null;
  /** Media type with charset. */
  readonly type: string;
  /** Its name changes with its content, so it may be cached forever. */
  readonly immutable: boolean;
  /** A weak entity tag, with quotes, for all encodings. */
  readonly etag: string;
}

/** Files of the console and the API reference. */
export interface StaticFiles {
  /** `path`: such as `console/index.html`. null: not found. Paths are found in a list, never joined to a directory. */
  find(path: string): Promise<StaticFile | null>;
}
