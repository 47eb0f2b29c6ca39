import { bounds, type Failure } from "#core/index.ts";
import type { AnswerBody, PieceListener, ReadClock } from "#ports/index.ts";
import type { OutboundExchange } from "./exchange.ts";
import { clientClosed, sendFailure } from "./send-failure.ts";

/** The source of a body. */
interface Flow {
  pause(): void;
  /** Also called when a reader waits and nothing has arrived. */
  resume(): void;
}

/**
 * The body of an answer, pushed by its source and read by its caller. Pieces that arrived are delivered before the failure that
 * followed them. The source is paused while more than `unreadBytesMax` are unread.
 */
export class PushedBody implements AnswerBody {
  readonly #exchange: OutboundExchange;
  readonly #flow: Flow;
  readonly #declared: number;
  #pieces: Uint8Array[] = [];
  #unread = 0;
  #arrived = false;
  #cut: Failure | null = null;
  #ended = false;
  #reading: PieceListener | null = null;

  /** `declared`: the content length; -1 if there is none. */
  constructor(exchange: OutboundExchange, flow: Flow, declared: number) {
    this.#exchange = exchange;
    this.#flow = flow;
    this.#declared = declared;
  }

  push(piece: Uint8Array): void {
    const reading = this.#reading;
    if (reading !== null) {
      this.#reading = null;
      this.#exchange.pause();
      reading.resolve(piece);
      return;
    }
    this.#pieces.push(piece);
    this.#unread += piece.length;
    if (this.#unread > bounds.unreadBytesMax) this.#flow.pause();
  }

  finish(): void {
    this.#arrived = true;
    const reading = this.#reading;
    if (reading === null) return;
    this.#reading = null;
    reading.resolve(this.#end());
  }

  breakOff(failure: Failure): void {
    this.#cut = failure;
    if (this.#reading === null) return;
    this.#exchange.fail(failure);
  }

  /** The exchange has failed: rejects the pending read. */
  failed(failure: Failure): void {
    this.#pieces = [];
    this.#unread = 0;
    const reading = this.#reading;
    this.#reading = null;
    reading?.reject(failure);
  }

  here(): Uint8Array | null {
    const piece = this.#unread === 0 ? undefined : this.#pieces.shift();
    if (piece === undefined) return null;
    this.#unread -= piece.length;
    if (this.#unread <= bounds.unreadBytesMax / 2) this.#flow.resume();
    return piece;
  }

  read(clock: ReadClock, limitMs: number): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => this.next(clock, limitMs, { resolve, reject }));
  }

  next(clock: ReadClock, limitMs: number, listener: PieceListener): void {
    if (this.#exchange.failure !== null) {
      listener.reject(this.#exchange.failure);
      return;
    }
    const piece = this.here();
    if (piece !== null) listener.resolve(piece);
    else if (this.#ended || this.#arrived) listener.resolve(this.#end());
    else if (this.#cut !== null) {
      this.#exchange.fail(this.#cut);
      listener.reject(this.#cut);
    } else {
      this.#exchange.begin(clock, limitMs);
      this.#reading = listener;
      this.#flow.resume();
    }
  }

  arrived(bytesMax: number): Uint8Array | null {
    if (!this.#arrived || this.#ended || this.#unread > bytesMax || this.#exchange.failure !== null) return null;
    const pieces = this.#pieces;
    const length = this.#unread;
    this.#pieces = [];
    this.#unread = 0;
    this.#end();
    return joined(pieces, length);
  }

  async readAll(
    bytesMax: number,
    clock: ReadClock,
    limitMs: number,
    grown?: (bytes: number) => void,
  ): Promise<Uint8Array> {
    if (this.#declared > bytesMax) throw this.#tooLarge(bytesMax);
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let piece = await this.read(clock, limitMs); piece !== null; piece = await this.read(clock, limitMs)) {
      length += piece.length;
      if (length > bytesMax) throw this.#tooLarge(bytesMax);
      grown?.(length);
      pieces.push(piece);
    }
    return joined(pieces, length);
  }

  cancel(): void {
    if (!this.#ended) this.#exchange.fail(clientClosed());
  }

  #end(): null {
    this.#ended = true;
    this.#exchange.end();
    return null;
  }

  #tooLarge(bytesMax: number): Failure {
    const failure = sendFailure("upstream_error", `The upstream's answer is larger than ${bytesMax} bytes.`);
    this.#exchange.fail(failure);
    return failure;
  }
}

/** A single piece is not copied. */
function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Bun.concatArrayBuffers([...pieces], length, true);
}
