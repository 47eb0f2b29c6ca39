import type { CallSignal, PieceReader } from "#core/index.ts";
import type { AnswerBody, OutboundAnswer, OutboundRequest, ReadClock } from "#ports/index.ts";
import { type Deadlines, OutboundExchange } from "./exchange.ts";
import { partsOf } from "./origin.ts";
import { RequestBody, streamedBody } from "./request-body.ts";
import { clientClosed, failedRead, failedSend } from "./send-failure.ts";
import { readRest } from "./socket-body.ts";

/** Answers requests to `demo://<name>/…` without a socket. The URL that it gets has `http:` instead of `demo:`. */
export type InProcessHandler = (request: Request) => Response | Promise<Response>;

export const demoScheme = "demo://";

type Handlers = ReadonlyMap<string, InProcessHandler>;

/** Sends to a handler in this process, with the same timeouts as to an upstream. */
export async function sendInProcess(
  deadlines: Deadlines,
  handlers: Handlers,
  request: OutboundRequest,
  signal: CallSignal,
): Promise<OutboundAnswer> {
  if (signal.aborted) throw clientClosed().with({ arrival: "unsent" });
  const exchange = new OutboundExchange(deadlines, signal, request.totalMs, deadlines.clock.monotonic());
  const ended = new AbortController();
  const source = streamedBody(request.body);
  const streamed = source === null ? null : new RequestBody(source, exchange, request.headersMs);
  try {
    exchange.begin("headers", request.headersMs);
    const answer = answerOf(handlers, request, streamed, ended.signal);
    const response = await exchange.race(answer, (late) => void late.body?.cancel().catch(() => {}));
    streamed?.answered();
    exchange.pause();
    return { status: response.status, headers: response.headers, body: new InProcessBody(exchange, response, ended) };
  } catch (thrown) {
    const failure = exchange.failure ?? failedSend(thrown);
    exchange.fail(failure);
    ended.abort();
    throw failure;
  }
}

async function answerOf(
  handlers: Handlers,
  request: OutboundRequest,
  streamed: RequestBody | null,
  signal: AbortSignal,
): Promise<Response> {
  const rest = request.url.slice(demoScheme.length);
  const host = partsOf(request.url).origin.slice(demoScheme.length);
  const handler = handlers.get(host);
  if (handler === undefined) throw new Error(`no in-process upstream named ${host}`);
  const { method } = request;
  const size = streamed === null ? {} : { "content-length": String(streamed.size) };
  const headers = { ...request.headers, ...size };
  const body = streamed?.open() ?? (request.body instanceof Uint8Array ? request.body : null);
  return await handler(new Request(`http://${rest}`, { method, headers, body, signal }));
}

/** The body of a handler's answer, read only on demand. */
class InProcessBody implements AnswerBody {
  readonly #exchange: OutboundExchange;
  readonly #reader: PieceReader | null;
  #ended = false;

  constructor(exchange: OutboundExchange, response: Response, ended: AbortController) {
    this.#exchange = exchange;
    const reader: PieceReader | null = response.body?.getReader() ?? null;
    this.#reader = reader;
    exchange.onFail({
      onFailure() {
        ended.abort();
        // Not every handler watches its signal. Canceling the reader ends the pending read.
        void reader?.cancel().catch(() => {});
      },
    });
  }

  async read(clock: ReadClock, limitMs: number): Promise<Uint8Array | null> {
    if (this.#exchange.failure !== null) throw this.#exchange.failure;
    if (this.#ended) return null;
    this.#exchange.begin(clock, limitMs);
    for (;;) {
      const piece = await this.#reader?.read().catch((thrown: unknown) => this.#exchange.fail(failedRead(thrown)));
      // A canceled reader ends without an error.
      if (this.#exchange.failure !== null) throw this.#exchange.failure;
      if (!piece || piece.done) {
        this.#ended = true;
        this.#exchange.end();
        return null;
      }
      if (piece.value.length === 0) continue;
      this.#exchange.pause();
      return piece.value;
    }
  }

  readAll(bytesMax: number, clock: ReadClock, limitMs: number, grown?: (bytes: number) => void): Promise<Uint8Array> {
    return readRest(this, this.#exchange, bytesMax, clock, limitMs, grown);
  }

  cancel(): void {
    if (!this.#ended) this.#exchange.fail(clientClosed());
  }
}
