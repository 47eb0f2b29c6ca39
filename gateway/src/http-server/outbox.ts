import type { Pace } from "./held-bytes.ts";

const nothing = new Uint8Array(0);
const chunksEnd = "0\r\n\r\n";
const copiedBytesMax = 16 * 1024;
/** Avoids an allocation for writes that the socket takes at once. */
const scratch = Buffer.allocUnsafe(32 * 1024);

export interface OutboxOptions {
  readonly write: WriteBytes;
  /** Measures how fast the caller reads. */
  readonly pace: Pace;
  /** Called with the memory of unsent bytes. */
  readonly onUnsent?: (bytes: number) => void;
}

/** Writes the first `length` bytes. Returns how many the socket took, less than 0 if it is closed. Must not keep a reference. */
export type WriteBytes = (bytes: Uint8Array, length: number) => number;

/**
 * Writes answers to a caller. Pieces of a stream are collected until `flush`, which makes one chunk of them. Bytes that the socket does
 * not take are kept; senders check `full` before they add more.
 */
export class Outbox {
  readonly #write: WriteBytes;
  readonly #onUnsent: (bytes: number) => void;
  readonly #pace: Pace;
  #head = "";
  #pieces: Uint8Array[] = [];
  #collected = 0;
  #chunked = false;
  #end = false;
  #unsent: Uint8Array = nothing;
  #broken = false;
  #slow = false;

  constructor({ write, pace, onUnsent = () => {} }: OutboxOptions) {
    this.#write = write;
    this.#pace = pace;
    this.#onUnsent = onUnsent;
  }

  /** The socket was closed before the last write. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Bytes wait for the socket, or too many for `flush`. */
  get full(): boolean {
    return this.#unsent.length > 0 || this.#collected > collectedBytesMax;
  }

  /** No bytes wait for the socket. */
  get sent(): boolean {
    return this.#unsent.length === 0;
  }

  /** Starts an answer; its pieces follow. */
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

  /** Ends the answer, which is sent with the next `flush`. */
  finish(): void {
    this.#end = this.#chunked;
  }

  /** Writes the collected pieces at once. */
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
    if (taken < total) this.#setUnsent(Buffer.from(bytes.subarray(taken, total)));
  }

  raw(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#unsent.length > 0) {
      this.#setUnsent(Buffer.concat([this.#unsent, bytes]));
      return;
    }
    const taken = this.#take(bytes, bytes.length);
    if (taken < bytes.length) this.#setUnsent(bytes.subarray(taken));
  }

  /** The socket is writable again. */
  drain(): void {
    if (this.#unsent.length === 0) return;
    const taken = this.#take(this.#unsent, this.#unsent.length);
    this.#pace.moved(taken);
    this.#setUnsent(taken === this.#unsent.length ? nothing : this.#unsent.subarray(taken));
  }

  /** Whether the caller reads too slowly. Called once per tick. */
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
    if (this.#unsent.length > 0) this.#setUnsent(nothing);
  }

  #take(bytes: Uint8Array, length: number): number {
    const taken = this.#write(bytes, length);
    if (taken < 0) this.#broken = true;
    return Math.max(0, taken);
  }

  #setUnsent(unsent: Uint8Array): void {
    this.#unsent = unsent;
    if (unsent.length === 0) this.#pace.stop();
    else this.#pace.start();
    this.#onUnsent(unsent.length === 0 ? 0 : unsent.buffer.byteLength);
  }
}

const collectedBytesMax = 256 * 1024;
