import { bounds, Failure, type PieceReader, pulledStream } from "#core/index.ts";
import type { OutboundBody, OutboundStream } from "#ports/index.ts";
import type { OutboundExchange } from "./exchange.ts";

/**
 * A streamed request body. It is read as fast as the upstream takes it, and each piece restarts the headers timeout: an upload may
 * take long, but an upstream must not stop reading. A failure of the source is ours and does not count against the upstream.
 */
export class RequestBody {
  readonly #source: OutboundStream;
  readonly #exchange: OutboundExchange;
  readonly #headersMs: number;
  #answered = false;

  constructor(source: OutboundStream, exchange: OutboundExchange, headersMs: number) {
    this.#source = source;
    this.#exchange = exchange;
    this.#headersMs = headersMs;
  }

  get size(): number {
    return this.#source.size;
  }

  /** The answer has begun, perhaps before the body was sent: from now on its own timeouts count. */
  answered(): void {
    this.#answered = true;
  }

  /** The body from its beginning, for one connection. The source is opened with the first read. */
  open(): ReadableStream<Uint8Array> {
    let reader: PieceReader | null = null;
    let sent = 0;
    let cancelled = false;
    const next = async (): Promise<Uint8Array | null> => {
      try {
        reader ??= this.#source.open().getReader() as PieceReader;
        const piece = await reader.read();
        sent += piece.done ? 0 : piece.value.length;
        if (piece.done ? sent !== this.size : sent > this.size)
          throw new Error("a body does not have its declared length");
        if (!this.#answered && !cancelled) this.#exchange.begin("headers", this.#headersMs);
        return piece.done ? null : piece.value;
      } catch (thrown) {
        const failure = unreadable(thrown);
        // A read that ends with the connection is not the source's fault.
        if (!this.#answered && !cancelled) this.#exchange.fail(failure);
        throw failure;
      }
    };
    return pulledStream(next, async () => {
      cancelled = true;
      await reader?.cancel();
    });
  }
}

function unreadable(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("internal_error", "The body of the request could not be sent.", { cause: thrown });
}

/** A body to send in pieces, since sending a large one at once would block the event loop. null: it is small. */
export function streamedBody(body: OutboundBody | null): OutboundStream | null {
  if (body === null) return null;
  if (body instanceof Uint8Array) return body.length <= bounds.sendAtOnceBytesMax ? null : streamedPieces([body]);
  return "open" in body ? body : streamedPieces(body);
}

function streamedPieces(pieces: readonly Uint8Array[]): OutboundStream {
  const open = (): ReadableStream<Uint8Array> => {
    const slices = slicesOf(pieces);
    return pulledStream(() => slices.next().value ?? null);
  };
  return { size: pieces.reduce((sum, { length }) => sum + length, 0), open };
}

function* slicesOf(pieces: readonly Uint8Array[]): Generator<Uint8Array, undefined> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += bounds.sendPieceBytes)
      yield piece.subarray(at, at + bounds.sendPieceBytes);
  }
}
