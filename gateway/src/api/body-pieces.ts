import { bounds } from "#core/index.ts";

/**
 * What has come of a body, in few pieces however it comes: long ones are kept as they are, which copies nothing, and short
 * ones are put together. A body that is worked on where it is gets one piece at once.
 */
export class BodyPieces {
  readonly #pieces: Uint8Array[] = [];
  /** The last of the pieces, while there is room in it. */
  #open: Uint8Array | null = null;
  #filled = 0;
  #size = 0;

  /** `declared`: the size as the body's sender says it; null where it does not. */
  constructor(declared: number | null) {
    // Memory that nothing was written to yet costs nothing.
    if (declared !== null && declared <= bounds.readInPlaceBytesMax) this.#begin(declared);
  }

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    this.#size += piece.length;
    let rest = this.#fill(piece);
    if (rest.length >= bounds.bodyPieceKeptBytesMin) {
      this.#pieces.push(rest);
      return;
    }
    while (rest.length > 0) {
      this.#begin(bounds.bodyPieceBytes);
      rest = this.#fill(rest);
    }
  }

  /** All of it; nothing can be added any more. */
  end(): readonly Uint8Array[] {
    const last = this.#open;
    if (last !== null) this.#pieces[this.#pieces.length - 1] = last.subarray(0, this.#filled);
    return this.#pieces;
  }

  #begin(bytes: number): void {
    this.#open = new Uint8Array(bytes);
    this.#filled = 0;
    this.#pieces.push(this.#open);
  }

  /** What does not fit. */
  #fill(piece: Uint8Array): Uint8Array {
    const into = this.#open;
    if (into === null) return piece;
    const fitting = Math.min(piece.length, into.length - this.#filled);
    into.set(piece.subarray(0, fitting), this.#filled);
    this.#filled += fitting;
    if (this.#filled === into.length) this.#open = null;
    return piece.subarray(fitting);
  }
}
