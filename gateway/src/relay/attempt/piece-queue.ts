import type { Redactor } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";

/** Copying and writing more at once would block the event loop. */
const partBytes = 256 * 1024;

/** The pieces of a stream that its caller has not pulled yet. A large event is returned in parts. */
export class PieceQueue {
  #first: Uint8Array | null = null;
  #others: Uint8Array[] = [];
  #bytes = 0;
  readonly #secrets: { readonly redactor: Redactor };

  /** `secrets`: hidden in error events of the upstream, and in everything that comes with and after them. */
  constructor(secrets: { readonly redactor: Redactor }) {
    this.#secrets = secrets;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Uint8Array, tap: StreamTap): void {
    this.#push(tap.failure === null ? bytes : this.#secrets.redactor.bytes(bytes));
    const more = tap.takeMore?.();
    if (more !== undefined) for (const piece of more) this.#push(piece);
  }

  clear(): void {
    this.#first = null;
    this.#others = [];
    this.#bytes = 0;
  }

  take(): Uint8Array | null {
    const piece = this.#first;
    if (piece === null) return null;
    const isWhole = piece.length <= partBytes;
    const part = isWhole ? piece : piece.subarray(0, partBytes);
    this.#bytes -= part.length;
    if (!isWhole) this.#first = piece.subarray(partBytes);
    else this.#first = this.#bytes === 0 ? null : (this.#others.shift() ?? null);
    return part;
  }

  #push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.#first === null) this.#first = piece;
    else this.#others.push(piece);
    this.#bytes += piece.length;
  }
}

const tailMs = 1_000;

/** Awaits the rest of a finished answer for a moment, so that its connection can be used again. */
export async function readTail(answer: Pick<OutboundAnswer, "body">): Promise<void> {
  try {
    for (let reads = 0; reads < 4; reads++) if ((await answer.body.read("idle", tailMs)) === null) return;
  } catch {
    // The answer is already settled and delivered; only the connection is lost.
  }
  answer.body.cancel();
}
