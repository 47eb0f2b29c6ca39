/** Receives the counts of bytes that wait for the socket. */
export interface UnsentWatch {
  /** Called with the memory of unsent bytes; 0: all were written. */
  onUnsent(bytes: number): void;
  /** This many of the waiting bytes were written. */
  onWritten(bytes: number): void;
}

/** The socket of a writer. */
export interface ByteSink {
  /** Writes the first `length` bytes. Returns how many the socket took, less than 0 if it is closed. Must not keep a reference. */
  writeBytes(bytes: Uint8Array, length: number): number;
}

/**
 * A method of the runtime's Buffer that its types lack. Unlike `write`, it does not look up an encoding; for a short text the lookup
 * takes about as long as the write.
 */
interface Latin1Buffer {
  latin1Write(text: string, at: number): number;
}

const CR = 0x0d;
const LF = 0x0a;
/** A size with its line end, the line end of a chunk, and the last chunk. */
const framingBytesMax = 8 + 2 + 2 + 5;
const noHead: readonly string[] = [];
const allSent: Uint8Array[] = [];
/** Shorter texts are written faster without a call of the runtime. */
const shortTextMax = 16;
const copiedBytesMax = 16 * 1024;
const collectedBytesMax = 256 * 1024;
/** Avoids an allocation for writes that the socket takes at once. */
const scratch = Buffer.allocUnsafe(32 * 1024);

/**
 * Writes the messages of a connection. A head and pieces of a body are collected until `flush`, which makes one chunk of the pieces.
 * A head is a list of parts, since a call takes longer if they are joined first. Bytes that the socket does not take are kept; senders
 * check `full` before they add more.
 */
export class MessageWriter {
  readonly #socket: ByteSink;
  readonly #watch: UnsentWatch | null;
  #head = noHead;
  readonly #pieces: Uint8Array[] = [];
  #collected = 0;
  #chunked = false;
  #end = false;
  /** Bytes that wait for the socket, in order. */
  #unsent = allSent;
  #broken = false;

  constructor(socket: ByteSink, watch: UnsentWatch | null = null) {
    this.#socket = socket;
    this.#watch = watch;
  }

  /** The socket was closed before the last write. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Bytes wait for the socket, or too many bytes wait for `flush`. */
  get full(): boolean {
    return !this.sent || this.#collected > collectedBytesMax;
  }

  /** No bytes wait for the socket. */
  get sent(): boolean {
    return this.#unsent === allSent;
  }

  /** No bytes wait for the socket or for `flush`. */
  get idle(): boolean {
    return this.sent && this.#head === noHead && this.#collected === 0;
  }

  /** Starts a message with the parts of its head, in Latin-1; pieces follow. */
  begin(head: readonly string[], chunked: boolean): void {
    this.#head = head;
    this.#chunked = chunked;
    this.#end = false;
  }

  piece(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#collected += bytes.length;
  }

  /** Ends the message, which is sent with the next `flush`. */
  finish(): void {
    this.#end = this.#chunked;
  }

  /** Writes the collected pieces at once. */
  flush(): void {
    const length = this.#collected;
    const head = this.#head;
    const pieces = this.#pieces;
    if (head === noHead && length === 0 && !this.#end) return;
    const isChunk = this.#chunked && length > 0;
    if (length > copiedBytesMax && !isChunk) {
      const long = pieces.splice(0);
      this.#drop();
      this.#writePieces(head.join(""), long);
      return;
    }
    let room = length + framingBytesMax;
    for (const text of head) room += text.length;
    const shared = room <= scratch.length && this.sent;
    const bytes = shared ? scratch : Buffer.allocUnsafe(room);
    let at = 0;
    for (const text of head) {
      if (text.length > shortTextMax) at += (bytes as Buffer & Latin1Buffer).latin1Write(text, at);
      else for (let index = 0; index < text.length; index++) bytes[at++] = text.charCodeAt(index);
    }
    if (isChunk) at = writeSize(bytes, at, length);
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    if (isChunk) at = writeLineEnd(bytes, at);
    if (this.#end) at = writeLineEnd(bytes, writeSize(bytes, at, 0));
    this.#drop();
    if (!shared) {
      this.raw(bytes.subarray(0, at));
      return;
    }
    const written = this.#take(bytes, at);
    if (written < at) this.#keep(Buffer.from(bytes.subarray(written, at)));
  }

  /** Writes bytes as they are, after the unsent ones. */
  raw(bytes: Uint8Array): void {
    const written = this.sent && bytes.length > 0 ? this.#take(bytes, bytes.length) : 0;
    if (written < bytes.length) this.#keep(bytes.subarray(written));
  }

  /** The socket is writable again. */
  drain(): void {
    if (this.sent) return;
    let written = 0;
    for (let first = this.#unsent[0]; first !== undefined; first = this.#unsent[0]) {
      const accepted = this.#take(first, first.length);
      written += accepted;
      if (accepted < first.length) {
        this.#unsent[0] = first.subarray(accepted);
        break;
      }
      this.#unsent.shift();
    }
    if (this.#unsent.length === 0) this.#unsent = allSent;
    this.#watch?.onWritten(written);
    this.#reportUnsent();
  }

  /** Drops what was not sent. */
  clear(): void {
    this.#drop();
    if (this.sent) return;
    this.#unsent = allSent;
    this.#reportUnsent();
  }

  /** Long pieces are not copied. */
  #writePieces(head: string, pieces: readonly Uint8Array[]): void {
    let short: Uint8Array[] = [Buffer.from(head, "latin1")];
    for (const piece of pieces) {
      if (piece.length <= copiedBytesMax) {
        short.push(piece);
        continue;
      }
      this.raw(Buffer.concat(short));
      this.raw(piece);
      short = [];
    }
    this.raw(Buffer.concat(short));
  }

  #drop(): void {
    this.#head = noHead;
    this.#end = false;
    while (this.#pieces.length > 0) this.#pieces.pop();
    this.#collected = 0;
  }

  #take(bytes: Uint8Array, length: number): number {
    const written = this.#socket.writeBytes(bytes, length);
    if (written < 0) this.#broken = true;
    return Math.max(0, written);
  }

  #keep(unsent: Uint8Array): void {
    if (this.sent) this.#unsent = [];
    this.#unsent.push(unsent);
    this.#reportUnsent();
  }

  #reportUnsent(): void {
    if (this.#watch === null) return;
    let bytes = 0;
    let before: ArrayBufferLike | null = null;
    for (const { buffer } of this.#unsent) {
      // Pieces of one read are views of one buffer.
      if (buffer !== before) bytes += buffer.byteLength;
      before = buffer;
    }
    this.#watch.onUnsent(bytes);
  }
}

/** The size of a chunk with its line end. */
function writeSize(bytes: Buffer, at: number, size: number): number {
  let shift = 28;
  while (shift > 0 && size >>> shift === 0) shift -= 4;
  for (; shift >= 0; shift -= 4) {
    const digit = (size >>> shift) & 0xf;
    bytes[at++] = digit < 10 ? 0x30 + digit : 0x57 + digit;
  }
  return writeLineEnd(bytes, at);
}

function writeLineEnd(bytes: Buffer, at: number): number {
  bytes[at] = CR;
  bytes[at + 1] = LF;
  return at + 2;
}
