import { bounds, type Failure } from "#core/index.ts";
import type { AnswerBody, ReadClock } from "#ports/index.ts";
import type { Exchange } from "./exchange.ts";
import { clientClosed, failedRead, sendFailure } from "./send-failure.ts";

const nothing = new Uint8Array(0);

type Piece = { done: false; value: Uint8Array } | { done: true; value?: unknown };

/** What is used of a stream's reader; the runtime's own type is wider than the one a body gives. */
interface PieceReader {
  read(): Promise<Piece>;
  cancel(): Promise<void>;
}

/**
 * The body of an answer, read only when asked: what is not read stays in the kernel and slows the upstream. The stream
 * is not even opened before the first read, because most answers are short and taken whole.
 */
export class StreamBody implements AnswerBody {
  readonly #exchange: Exchange;
  readonly #response: Response;
  #reader: PieceReader | null = null;
  #ended = false;

  constructor(exchange: Exchange, response: Response) {
    this.#exchange = exchange;
    this.#response = response;
  }

  async read(clock: ReadClock, limitMs: number): Promise<Uint8Array | null> {
    if (this.#exchange.failure !== null) throw this.#exchange.failure;
    if (this.#ended) return null;
    const reader = this.#reader ?? this.#open();
    if (reader === null) return this.#end();
    this.#exchange.begin(clock, limitMs);
    for (;;) {
      const piece = await this.#next(reader);
      if (piece.done) return this.#end();
      if (piece.value.length === 0) continue;
      this.#exchange.pause();
      return piece.value;
    }
  }

  async readAll(
    bytesMax: number,
    clock: ReadClock,
    limitMs: number,
    grown?: (bytes: number) => void,
  ): Promise<Uint8Array> {
    const declared = this.#declaredLength();
    if (declared > bytesMax) throw this.#refuse(bytesMax);
    if (this.#reader === null && !this.#ended && this.#exchange.failure === null && declared >= 0) {
      if (declared <= bounds.replyAtOnceBytesMax) return this.#readAtOnce(clock, limitMs);
    }
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let piece = await this.read(clock, limitMs); piece !== null; piece = await this.read(clock, limitMs)) {
      length += piece.length;
      if (length > bytesMax) throw this.#refuse(bytesMax);
      grown?.(length);
      pieces.push(piece);
    }
    return joined(pieces, length);
  }

  cancel(): void {
    if (!this.#ended) this.#exchange.fail(clientClosed());
  }

  async #readAtOnce(clock: ReadClock, limitMs: number): Promise<Uint8Array> {
    this.#exchange.begin(clock, limitMs);
    try {
      const bytes = await this.#response.bytes();
      if (this.#exchange.failure !== null) throw this.#exchange.failure;
      this.#end();
      return bytes;
    } catch (thrown) {
      throw this.#broken(thrown);
    }
  }

  async #next(reader: PieceReader): Promise<Piece> {
    try {
      const piece = await reader.read();
      // A stream that was cancelled ends without an error, so the reason is asked for first.
      if (this.#exchange.failure !== null) throw this.#exchange.failure;
      return piece;
    } catch (thrown) {
      throw this.#broken(thrown);
    }
  }

  #open(): PieceReader | null {
    const reader: PieceReader | null = this.#response.body?.getReader() ?? null;
    this.#reader = reader;
    // Not every in-process handler watches its signal; a cancelled reader wakes the read that waits for it.
    if (reader !== null) this.#exchange.onFail(() => void reader.cancel().catch(() => {}));
    return reader;
  }

  #end(): null {
    this.#ended = true;
    this.#exchange.end();
    return null;
  }

  /** Why the exchange had ended already, or else that the body broke off. */
  #broken(thrown: unknown): Failure {
    if (this.#exchange.failure !== null) return this.#exchange.failure;
    const failure = failedRead(thrown);
    this.#exchange.fail(failure);
    return failure;
  }

  #refuse(bytesMax: number): Failure {
    const failure = sendFailure("upstream_error", `The upstream's answer is larger than ${bytesMax} bytes.`);
    this.#exchange.fail(failure);
    return failure;
  }

  /** -1 when unknown. With a transfer encoding the declared length says nothing (RFC 9112 §6.3). */
  #declaredLength(): number {
    const { headers } = this.#response;
    const text = headers.get("content-length");
    if (text === null || headers.has("transfer-encoding")) return -1;
    return Number(text);
  }
}

/** One piece as it is; several in a copy. */
export function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = pieces;
  if (first === undefined) return nothing;
  if (pieces.length === 1) return first;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
