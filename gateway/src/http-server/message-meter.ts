/** Is told of a WebSocket's messages as they arrive. */
export interface MessageGuard {
  /** The frames of the message so far declare so many bytes. False: nothing more is read of this connection. */
  grows(bytes: number): boolean;
  /** All of it has come. */
  ends(): void;
  /** The rest of the message arrives too slowly. The guard refuses it, and the connection is not read any more. */
  slow(): void;
  /** Whether the connection is not read any more. */
  readonly over: boolean;
}

/**
 * Reads the heads of a caller's WebSocket frames as they pass (RFC 6455, 5.2), because the runtime puts a whole message together before it tells
 * anybody of it.
 */
export class MessageMeter {
  readonly guard: MessageGuard;
  readonly #head = new Uint8Array(headBytesMax);
  #headLength = 0;
  /** Bytes of the frame that are still to come. */
  #left = 0;
  /** What the message's frames declare. */
  #bytes = 0;
  /** The frame is the last of a message. */
  #last = false;
  #inMessage = false;

  constructor(guard: MessageGuard) {
    this.guard = guard;
  }

  /** A frame or a message has begun and is not whole. */
  get unfinished(): boolean {
    return this.#inMessage || this.#headLength > 0 || this.#left > 0;
  }

  /** False: the guard has refused a message, and these bytes must not pass. */
  push(bytes: Uint8Array): boolean {
    if (this.guard.over) return false;
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, bytes.length - at);
        this.#left -= passed;
        at += passed;
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
    // Control frames may stand between those of a message, and hold 125 bytes at most.
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

/** As far as it can be known from the first bytes. */
function headLength(head: Uint8Array, known: number): number {
  if (known < 2) return 2;
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
