import type { BlobInfo, BlobStore } from "#ports/index.ts";

/** How much of a file is read at once to find its measures. */
const mediaWindowBytes = 64 * 1024;

/** A file that is looked into here and there. `at` gives fewer bytes than asked for only at its end. */
export interface ByteView {
  readonly size: number;
  /** At most mediaWindowBytes. */
  at(start: number, length: number): Promise<Uint8Array>;
}

const nothing: Uint8Array = new Uint8Array(0);

/** One window over a stored blob, moved to where the reader looks. */
export class BlobView implements ByteView {
  readonly size: number;
  readonly #blobs: BlobStore;
  readonly #hash: string;
  #start = 0;
  #window = nothing;

  constructor(blobs: BlobStore, blob: BlobInfo) {
    this.#blobs = blobs;
    this.#hash = blob.hash;
    this.size = blob.size;
  }

  async at(start: number, length: number): Promise<Uint8Array> {
    const end = Math.min(this.size, start + Math.min(length, mediaWindowBytes));
    if (start < 0 || start >= end) return nothing;
    if (start < this.#start || end > this.#start + this.#window.length) {
      this.#start = start;
      this.#window = await this.#read(start, Math.min(this.size, start + mediaWindowBytes));
    }
    return this.#window.subarray(start - this.#start, end - this.#start);
  }

  async #read(start: number, end: number): Promise<Uint8Array> {
    const stream = await this.#blobs.read(this.#hash, start, end);
    return stream === null ? nothing : new Response(stream).bytes();
  }
}
