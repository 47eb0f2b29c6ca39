import type { Redactor } from "#core/index.ts";
import type { StreamTap } from "#protocols/index.ts";

/** Copying and writing more at once would block the event loop. */
const partBytes = 256 * 1024;

/** What a stream's caller has not pulled yet. A large event is given out in parts. */
export class PieceQueue {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  readonly #redactor: () => Redactor;

  /** `redactor`: for the upstream's own error events, and whatever comes with and after them. */
  constructor(redactor: () => Redactor) {
    this.#redactor = redactor;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Uint8Array, tap: StreamTap): void {
    const shown = tap.failure === null ? bytes : this.#redactor().bytes(bytes);
    if (shown.length > 0) this.#pieces.push(shown);
    this.#bytes += shown.length;
    for (const more of tap.takeMore?.() ?? []) {
      this.#pieces.push(more);
      this.#bytes += more.length;
    }
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  take(): Uint8Array | null {
    const [piece] = this.#pieces;
    if (piece === undefined) return null;
    if (piece.length <= partBytes) this.#pieces.shift();
    else this.#pieces[0] = piece.subarray(partBytes);
    const part = piece.length <= partBytes ? piece : piece.subarray(0, partBytes);
    this.#bytes -= part.length;
    return part;
  }
}
