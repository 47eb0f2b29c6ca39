import { MalformedMessage } from "./malformed.ts";

/** A method of the runtime's Buffer that its types lack. Unlike `toString`, it does not look up an encoding. */
interface Latin1Buffer {
  latin1Slice(from: number, to: number): string;
}

const headEnd = Buffer.from("\r\n\r\n");
const CR = 0x0d;
const LF = 0x0a;
const nothing = Buffer.alloc(0);

/** Collects a head until its empty line. A head in one piece is not copied. Small pieces are joined in a buffer that doubles. */
export class HeadBytes {
  /** The lines with their ends, without the empty one; null: the head is incomplete. */
  text: string | null = null;
  readonly #bytesMax: number;
  #held = nothing;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get empty(): boolean {
    return this.#length === 0;
  }

  clear(): void {
    this.text = null;
    this.#held = nothing;
    this.#length = 0;
  }

  /** Returns the position after the bytes that it used. */
  take(bytes: Buffer, at: number): number {
    if (this.#length === 0) {
      const end = bytes.indexOf(headEnd, at);
      if (end >= 0) return this.#ready(bytes, at, end + 2);
    }
    return this.#hold(bytes, at);
  }

  /** The same for the trailers after the last chunk, which may be empty. */
  takeTrailers(bytes: Buffer, at: number): number {
    if (this.#length === 0 && bytes[at] === CR) {
      this.#grow(1);
      this.#held[0] = CR;
      this.#length = 1;
      return at + 1;
    }
    if (this.#length !== 1 || this.#held[0] !== CR) return this.take(bytes, at);
    if (bytes[at] !== LF) throw new MalformedMessage("framing", "The end of the chunked body is malformed.");
    this.text = "";
    return at + 1;
  }

  #ready(bytes: Buffer, from: number, to: number): number {
    if (to - from > this.#bytesMax) throw tooLarge();
    this.text = (bytes as Buffer & Latin1Buffer).latin1Slice(from, to);
    return to + 2;
  }

  #hold(bytes: Buffer, at: number): number {
    const before = this.#length;
    const room = this.#bytesMax + headEnd.length - before;
    const count = Math.min(room, bytes.length - at);
    this.#grow(before + count);
    bytes.copy(this.#held, before, at, at + count);
    this.#length = before + count;
    const held = this.#held.subarray(0, this.#length);
    const end = held.indexOf(headEnd, Math.max(0, before - headEnd.length + 1));
    if (end >= 0) {
      this.text = held.toString("latin1", 0, end + 2);
      return at + end + headEnd.length - before;
    }
    refuseEarly(held, before);
    if (this.#length > this.#bytesMax) throw tooLarge();
    return at + count;
  }

  #grow(length: number): void {
    if (this.#held.length >= length) return;
    const grown = Buffer.allocUnsafe(Math.max(length, this.#held.length * 2, 512));
    this.#held.copy(grown, 0, 0, this.#length);
    this.#held = grown;
  }
}

/** Without this check, a caller that ends lines with a bare line feed, or speaks another protocol, would wait for a timeout. */
function refuseEarly(held: Buffer, from: number): void {
  const first = held[0] ?? 0;
  if (first <= 0x20 && first !== CR) throw new MalformedMessage("syntax", "The message does not begin like HTTP.");
  for (let at = held.indexOf(LF, from); at >= 0; at = held.indexOf(LF, at + 1)) {
    if (held[at - 1] !== CR) throw new MalformedMessage("syntax", "A line ends with a bare line feed.");
  }
}

function tooLarge(): MalformedMessage {
  return new MalformedMessage("head_too_large", "The head is too large.");
}
