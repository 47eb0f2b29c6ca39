/** Bytes by the SHA-256 of what they are, on a disk or in a bucket. The same bytes are kept once. */
export interface BlobStore {
  /** Takes bytes as they come, at most `bytesMax`, and is done when they are safe. Throws Failure request_too_large. */
  put(bytes: ReadableStream<Uint8Array>, bytesMax: number, signal: AbortSignal): Promise<BlobInfo>;
  stat(hash: string): Promise<BlobInfo | null>;
  /** `start` inclusive, `end` exclusive; pulled as the reader pulls. null: not there. */
  read(hash: string, start: number, end: number): Promise<ReadableStream<Uint8Array> | null>;
  /** The first bytes, to see what they are. */
  head(hash: string, length: number): Promise<Uint8Array | null>;
  remove(hash: string): Promise<void>;
}

export interface BlobInfo {
  /** Lower-case hex. */
  readonly hash: string;
  readonly size: number;
}
