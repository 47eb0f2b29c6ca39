import type { BatchRow } from "#core/index.ts";
import type { BlobStore } from "#ports/index.ts";

/** Bytes that are read at once, unless one row is longer. */
const readBytes = 1024 * 1024;

interface ReadPart {
  readonly from: number;
  readonly bytes: Uint8Array;
}

/** Reads the bodies of rows that mostly follow each other in the input of a batch, some at a time. */
export class RowBodies {
  readonly #blobs: Pick<BlobStore, "read">;
  readonly #hash: string;
  /** Rows are read one after the other: the next one is mostly in the part of this one. */
  #part: Promise<ReadPart> = Promise.resolve({ from: 0, bytes: new Uint8Array(0) });

  constructor(blobs: Pick<BlobStore, "read">, hash: string) {
    this.#blobs = blobs;
    this.#hash = hash;
  }

  /** Throws if the input is missing. */
  async of({ start, bytes }: Pick<BatchRow, "start" | "bytes">): Promise<Uint8Array> {
    const end = start + bytes;
    const last = this.#part;
    this.#part = last.catch(() => noPart).then((part) => (contains(part, start, end) ? part : this.#read(start, end)));
    const { from, bytes: read } = await this.#part;
    return read.slice(start - from, end - from);
  }

  async #read(start: number, end: number): Promise<ReadPart> {
    const stream = await this.#blobs.read(this.#hash, start, Math.max(end, start + readBytes));
    if (stream === null) throw new Error("the input of the batch is missing");
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    if (bytes.length < end - start) throw new Error("the input of the batch is cut");
    return { from: start, bytes };
  }
}

const noPart: ReadPart = { from: 0, bytes: new Uint8Array(0) };

function contains({ from, bytes }: ReadPart, start: number, end: number): boolean {
  return start >= from && end <= from + bytes.length;
}
