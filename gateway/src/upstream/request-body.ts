import { bounds, Failure, type PieceReader, pulledStream } from "#core/index.ts";
import type { OutboundBody, OutboundStream } from "#ports/index.ts";
import type { OutboundExchange } from "./exchange.ts";

/**
 * A streamed request body. It is read as fast as the upstream takes it, and each piece restarts the headers timeout: an upload may
 * take long, but an upstream must not stop reading. A failure of the source is ours and does not count against the upstream.
 */
export class RequestBody {
  readonly size: number;
  /** null once it was read, to free its memory during a long answer. */
  #source: OutboundStream | null;
  readonly #exchange: OutboundExchange;
  readonly #headersMs: number;
  #reader: PieceReader | null = null;
  #sent = 0;
  /** The answer has begun, or nothing more can be sent. */
  #over = false;

  constructor(source: OutboundStream, exchange: OutboundExchange, headersMs: number) {
    this.size = source.size;
    this.#source = source;
    this.#exchange = exchange;
    this.#headersMs = headersMs;
  }

  /** The answer has begun, perhaps before the body was sent: from now on its own timeouts count. */
  answered(): void {
    this.#over = true;
  }

  /** The next piece; null at the end. The source is opened with the first read. Throws Failure. */
  async next(): Promise<Uint8Array | null> {
    try {
      this.#reader ??= (this.#source?.open().getReader() ?? null) as PieceReader | null;
      const piece = (await this.#reader?.read()) ?? { done: true as const };
      this.#sent += piece.done ? 0 : piece.value.length;
      if (piece.done ? this.#sent !== this.size : this.#sent > this.size)
        throw new Error("a body does not have its declared length");
      if (!this.#over) this.#exchange.begin("headers", this.#headersMs);
      if (!piece.done) return piece.value;
      this.#source = null;
      this.#reader = null;
      return null;
    } catch (thrown) {
      const failure = unreadable(thrown);
      // A read that ends with the connection is not the source's fault.
      if (!this.#over) this.#exchange.fail(failure);
      throw failure;
    }
  }

  /** Nothing more can be sent. */
  async cancel(): Promise<void> {
    this.#over = true;
    await this.#reader?.cancel();
  }
}

function unreadable(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("internal_error", "The body of the request could not be sent.", { cause: thrown });
}

/** The pieces of a body that is short enough to be sent at once; null: it has to be sent as a stream. */
export function piecesAtOnce(body: OutboundBody | null): readonly Uint8Array[] | null {
  if (body === null) return [];
  if ("open" in body) return null;
  const pieces = piecesOf(body);
  return sizeOf(pieces) <= bounds.sendAtOnceBytesMax ? pieces : null;
}

/** A body as a stream of small pieces, since sending a large one at once would block the event loop. */
export function streamedBody(body: OutboundStream | Uint8Array | readonly Uint8Array[]): OutboundStream {
  if ("open" in body) return body;
  const pieces = piecesOf(body);
  const open = (): ReadableStream<Uint8Array> => {
    const slices = slicesOf(pieces);
    return pulledStream(() => slices.next().value ?? null);
  };
  return { size: sizeOf(pieces), open };
}

export function sizeOf(pieces: readonly Uint8Array[]): number {
  let size = 0;
  for (const { length } of pieces) size += length;
  return size;
}

function piecesOf(body: Uint8Array | readonly Uint8Array[]): readonly Uint8Array[] {
  return body instanceof Uint8Array ? [body] : body;
}

function* slicesOf(pieces: readonly Uint8Array[]): Generator<Uint8Array, undefined> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += bounds.sendPieceBytes)
      yield piece.subarray(at, at + bounds.sendPieceBytes);
  }
}
