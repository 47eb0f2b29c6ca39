import { bounds, Failure } from "#core/index.ts";
import type { OutboundBody, OutboundStream } from "#ports/index.ts";
import type { Exchange } from "./exchange.ts";

/**
 * A streamed body on its way out. It is read as the upstream takes it, and each piece that goes starts the headers
 * clock anew: an upload may take long, an upstream that stops taking it may not. What goes wrong with the source is
 * ours: it ends the exchange without a word against the upstream.
 */
export class RequestBody {
  readonly #source: OutboundStream;
  readonly #exchange: Exchange;
  readonly #headersMs: number;
  #answered = false;

  constructor(source: OutboundStream, exchange: Exchange, headersMs: number) {
    this.#source = source;
    this.#exchange = exchange;
    this.#headersMs = headersMs;
  }

  get size(): number {
    return this.#source.size;
  }

  /** The answer has begun, perhaps before the body was sent whole: its own clocks count from here. */
  answered(): void {
    this.#answered = true;
  }

  /** The body from its beginning, for one connection. Nothing is opened before the first byte is asked for. */
  open(): ReadableStream<Uint8Array> {
    let reader: PieceReader | null = null;
    let sent = 0;
    let dropped = false;
    const next = async (): Promise<Uint8Array | null> => {
      reader ??= this.#source.open().getReader();
      const piece = await reader.read();
      sent += piece.done ? 0 : piece.value.length;
      const wrong = piece.done ? sent !== this.size : sent > this.size;
      if (wrong && !dropped) throw new Error("a body is not as long as it says");
      return piece.done ? null : piece.value;
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = await next().catch((thrown: unknown) => unreadable(thrown));
          // The stream may be dropped while a piece is being read, when the connection ends: that is not the source's fault.
          if (dropped || this.#exchange.failure !== null) return;
          if (piece instanceof Failure) {
            if (!this.#answered) this.#exchange.fail(piece);
            controller.error(piece);
            return;
          }
          if (!this.#answered) this.#exchange.begin("headers", this.#headersMs);
          if (piece === null) controller.close();
          else controller.enqueue(piece);
        },
        cancel: async (reason) => {
          dropped = true;
          await reader?.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }
}

/** What is used of a stream's reader; the runtime's own type is wider. */
export interface PieceReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}

function unreadable(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("internal_error", "The body of the request could not be sent.", { cause: thrown });
}

/** A body that is sent piece by piece, since sending a whole one at once holds up the event loop. null: it is short. */
export function streamedBody(body: OutboundBody | null): OutboundStream | null {
  if (body === null) return null;
  if (body instanceof Uint8Array) return body.length <= bounds.sendAtOnceBytesMax ? null : streamedPieces([body]);
  return "open" in body ? body : streamedPieces(body);
}

function streamedPieces(pieces: readonly Uint8Array[]): OutboundStream {
  return { size: pieces.reduce((sum, { length }) => sum + length, 0), open: () => streamOf(pieces) };
}

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let index = 0;
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[index];
        if (piece === undefined) {
          controller.close();
          return;
        }
        controller.enqueue(piece.subarray(at, at + bounds.sendPieceBytes));
        at += bounds.sendPieceBytes;
        if (at < piece.length) return;
        index++;
        at = 0;
      },
    },
    { highWaterMark: 0 },
  );
}
