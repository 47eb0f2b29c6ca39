/** Bounds a WebSocket's messages while they arrive. */
export interface MessageGuard {
  /** The message has this many bytes by its frames so far. Returns false if the connection must not be read any more. */
  grows(bytes: number): boolean;
  /** The message is complete. */
  ends(): void;
  /** The message arrives too slowly. The guard refuses it, and the connection must not be read any more. */
  slow(): void;
  /** Whether the connection must not be read any more. */
  readonly over: boolean;
}

/** Reads the heads of a caller's WebSocket frames (RFC 6455, 5.2), because the runtime reports a message only once it is whole. */
export class MessageMeter {
  readonly guard: MessageGuard;
  readonly #head = new Uint8Array(headBytesMax);
  #headLength = 0;
  /** Bytes of the frame that have not arrived. */
  #left = 0;
  /** The size of the message by its frames so far. */
  #bytes = 0;
  /** The frame is the last one of its message. */
  #last = false;
  #inMessage = false;

  constructor(guard: MessageGuard) {
    this.guard = guard;
  }

  /** A frame or a message has arrived in part. */
  get unfinished(): boolean {
    return this.#inMessage || this.#headLength > 0 || this.#left > 0;
  }

  /** Returns false if the guard refused a message; then these bytes must not be forwarded. */
  push(bytes: Uint8Array): boolean {
    if (this.guard.over) return false;
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const length = Math.min(this.#left, bytes.length - at);
        this.#left -= length;
        at += length;
      } else {
        this.#head[this.#headLength++] = bytes[at++] ?? 0;
        if (this.#headLength < headLength(this.#head, this.#headLength)) continue;
        if (!this.#begin()) return false;
      }
      if (this.#left === 0 && this.#headLength === 0 && this.#last) this.#end();
    }
    return true;
  }

  #begin(): boolean {
    const [first = 0] = this.#head;
    const length = payloadLength(this.#head);
    this.#headLength = 0;
    this.#left = length;
    // Control frames may come between the frames of a message, and have at most 125 bytes.
    if ((first & isControl) !== 0) return true;
    this.#inMessage = true;
    this.#bytes += length;
    this.#last = (first & isFinal) !== 0;
    return this.guard.grows(this.#bytes);
  }

  #end(): void {
    this.#inMessage = false;
    this.#last = false;
    this.#bytes = 0;
    this.guard.ends();
  }
}

const headBytesMax = 14;
const isFinal = 0x80;
const isControl = 0x08;
const isMasked = 0x80;

/** The length of a frame's head, as far as its first `arrived` bytes show it. */
function headLength(head: Uint8Array, arrived: number): number {
  if (arrived < 2) return 2;
  const second = head[1] ?? 0;
  const length = second & ~isMasked;
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + ((second & isMasked) === 0 ? 0 : 4);
}

function payloadLength(head: Uint8Array): number {
  const length = (head[1] ?? 0) & ~isMasked;
  const view = new DataView(head.buffer);
  if (length < 126) return length;
  return length === 126 ? view.getUint16(2) : Number(view.getBigUint64(2));
}
