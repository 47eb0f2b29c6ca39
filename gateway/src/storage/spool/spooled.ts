import { bounds } from "#core/index.ts";
import type { Spooled } from "#ports/index.ts";
import { discarded, type SpoolFile } from "./spool-file.ts";

/** A body in memory, in blocks of bounds.spoolPieceBytes. */
export class SpooledMemory implements Spooled {
  readonly size: number;
  #blocks: readonly Uint8Array[];
  readonly #giveBack: () => void;
  #gone = false;

  constructor(blocks: readonly Uint8Array[], size: number, giveBack: () => void) {
    this.#blocks = blocks;
    this.size = size;
    this.#giveBack = giveBack;
  }

  read(start: number, end: number): ReadableStream<Uint8Array> {
    return pieces(start, Math.min(end, this.size), (at, limit) => {
      const block = this.#blocks[Math.floor(at / bounds.spoolPieceBytes)];
      if (block === undefined) throw discarded();
      const offset = at % bounds.spoolPieceBytes;
      // A copy: a stream's reader may take the memory of what it is given for itself.
      return block.slice(offset, Math.min(block.length, offset + limit - at));
    });
  }

  discard(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#blocks = [];
    this.#giveBack();
  }
}

/** A body in a file. */
export class SpooledFile implements Spooled {
  readonly size: number;
  readonly #file: SpoolFile;
  readonly #giveBack: () => void;
  #gone = false;

  constructor(file: SpoolFile, size: number, giveBack: () => void) {
    this.#file = file;
    this.size = size;
    this.#giveBack = giveBack;
  }

  read(start: number, end: number): ReadableStream<Uint8Array> {
    return pieces(start, Math.min(end, this.size), async (at, limit) => {
      const bytes = new Uint8Array(Math.min(bounds.spoolPieceBytes, limit - at));
      const count = await this.#file.read(bytes, at);
      if (count === 0) throw new Error("a spooled body is shorter than it was");
      return bytes.subarray(0, count);
    });
  }

  discard(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#file.close();
    this.#giveBack();
  }
}

type ReadPiece = (at: number, limit: number) => Uint8Array | Promise<Uint8Array>;

/** One piece for each pull, so that nothing is read ahead of who reads. */
function pieces(start: number, end: number, readPiece: ReadPiece): ReadableStream<Uint8Array> {
  let at = start;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (at >= end) {
          controller.close();
          return;
        }
        const piece = await readPiece(at, end);
        at += piece.length;
        controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
}
