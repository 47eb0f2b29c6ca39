/** Stores bytes by their SHA-256, on a disk or in a bucket. The same bytes are stored once. */
export interface BlobStore {
  /** Stores a stream of at most `bytesMax` bytes. Resolves when they are safely stored. Throws Failure request_too_large. */
  put(bytes: ReadableStream<Uint8Array>, bytesMax: number, signal: AbortSignal): Promise<BlobInfo>;
  stat(hash: string): Promise<BlobInfo | null>;
  /** From `start` to `end` (exclusive), read only as fast as the reader asks. null: there are no such bytes. */
  read(hash: string, start: number, end: number): Promise<ReadableStream<Uint8Array> | null>;
  /** The first bytes, to find out the file type. */
  head(hash: string, length: number): Promise<Uint8Array | null>;
  remove(hash: string): Promise<void>;
}

export interface BlobInfo {
  /** Lower-case hex. */
  readonly hash: string;
  readonly size: number;
}
