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

/** One file that is served as it is. */
export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same, compressed with gzip; null when that would not be smaller. */
  readonly gzip: Uint8Array<ArrayBuffer> | null;
  /** The same, compressed with Brotli, where the build left it beside the file; else null. */
  readonly brotli: Uint8Array<ArrayBuffer> | null;
  /** The media type, with its charset. */
  readonly type: string;
  /** True when the name changes with the content, so that it may be kept forever. */
  readonly immutable: boolean;
  /** A weak entity tag in its quotes: it stands for all forms. */
  readonly etag: string;
}

/** The files of the console and of the API reference, by a path such as `console/index.html`. */
export interface StaticFiles {
  /** null for a file that was not there at the start. A path is looked up in a list, never joined to a directory. */
  find(path: string): Promise<StaticFile | null>;
}
