import type { Pace } from "./held-bytes.ts";

const nothing = new Uint8Array(0);
const chunksEnd = "0\r\n\r\n";
const copiedBytesMax = 16 * 1024;
/** For what is written at once: mostly the socket takes all of it, and nothing was allocated. */
const scratch = Buffer.allocUnsafe(32 * 1024);

export interface OutboxOptions {
  readonly write: WriteBytes;
  /** Of what waits for the socket. */
  readonly pace: Pace;
  /** Is told of the memory that is kept for that. */
  readonly onKept?: (bytes: number) => void;
}

/** The first `length` bytes; says how many the socket took, less than 0 when it is closed. It keeps none of the others. */
export type WriteBytes = (bytes: Uint8Array, length: number) => number;

/**
 * What is to be written to a caller. Pieces of a stream are collected until `flush`, which makes one chunk of them; whatever
 * the socket does not take waits, and nothing is added meanwhile by those who look at `full`.
 */
export class Outbox {
  readonly #write: WriteBytes;
  readonly #onKept: (bytes: number) => void;
  readonly #pace: Pace;
  #head = "";
  #pieces: Uint8Array[] = [];
  #collected = 0;
  #chunked = false;
  #end = false;
  #unsent: Uint8Array = nothing;
  #broken = false;
  #slow = false;

  constructor({ write, pace, onKept = () => {} }: OutboxOptions) {
    this.#write = write;
    this.#pace = pace;
    this.#onKept = onKept;
  }

  /** The socket was closed before what was written. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Something waits for the socket, or much waits for `flush`. */
  get full(): boolean {
    return this.#unsent.length > 0 || this.#collected > collectedBytesMax;
  }

  /** Nothing waits for the socket. */
  get sent(): boolean {
    return this.#unsent.length === 0;
  }

  /** The head of an answer whose pieces follow. */
  begin(head: string, chunked: boolean): void {
    this.#head = head;
    this.#chunked = chunked;
    this.#end = false;
  }

  piece(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#collected += bytes.length;
  }

  /** The answer is whole; it leaves with the next `flush`. */
  finish(): void {
    this.#end = this.#chunked;
  }

  /** Writes what was collected, in one go. */
  flush(): void {
    const length = this.#collected;
    if (this.#head === "" && length === 0 && !this.#end) return;
    const before = this.#chunked && length > 0 ? `${this.#head}${length.toString(16)}\r\n` : this.#head;
    const after = (this.#chunked && length > 0 ? "\r\n" : "") + (this.#end ? chunksEnd : "");
    const pieces = this.#pieces;
    this.#head = "";
    this.#end = false;
    this.#pieces = [];
    this.#collected = 0;
    const [only] = pieces;
    if (only !== undefined && pieces.length === 1 && length > copiedBytesMax && !this.#chunked) {
      this.raw(Buffer.from(before, "latin1"));
      this.raw(only);
      return;
    }
    const total = before.length + length + after.length;
    const shared = total <= scratch.length && this.#unsent.length === 0;
    const bytes = shared ? scratch : Buffer.allocUnsafe(total);
    let at = bytes.write(before, 0, "latin1");
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    bytes.write(after, at, "latin1");
    if (!shared) {
      this.raw(bytes);
      return;
    }
    const taken = this.#take(bytes, total);
    if (taken < total) this.#keep(Buffer.from(bytes.subarray(taken, total)));
  }

  raw(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#unsent.length > 0) {
      this.#keep(Buffer.concat([this.#unsent, bytes]));
      return;
    }
    const taken = this.#take(bytes, bytes.length);
    if (taken < bytes.length) this.#keep(bytes.subarray(taken));
  }

  /** The socket takes more. */
  drain(): void {
    if (this.#unsent.length === 0) return;
    const taken = this.#take(this.#unsent, this.#unsent.length);
    this.#pace.moved(taken);
    this.#keep(taken === this.#unsent.length ? nothing : this.#unsent.subarray(taken));
  }

  /** Once each turn of the wheel: whether what waits for the socket is read too slowly. */
  isSlow(): boolean {
    this.#slow = this.#unsent.length > 0 && this.#pace.turn();
    return this.#slow;
  }

  get wasSlow(): boolean {
    return this.#slow;
  }

  clear(): void {
    this.#head = "";
    this.#end = false;
    this.#pieces = [];
    this.#collected = 0;
    if (this.#unsent.length > 0) this.#keep(nothing);
  }

  #take(bytes: Uint8Array, length: number): number {
    const taken = this.#write(bytes, length);
    if (taken < 0) this.#broken = true;
    return Math.max(0, taken);
  }

  #keep(unsent: Uint8Array): void {
    this.#unsent = unsent;
    if (unsent.length === 0) this.#pace.stop();
    else this.#pace.start();
    this.#onKept(unsent.length === 0 ? 0 : unsent.buffer.byteLength);
  }
}

const collectedBytesMax = 256 * 1024;
