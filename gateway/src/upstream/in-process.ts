import type { CallSignal } from "#core/index.ts";
import type { AnswerBody, Clock, OutboundAnswer, OutboundRequest, ReadClock } from "#ports/index.ts";
import { Exchange } from "./exchange.ts";
import { originEnd } from "./origin.ts";
import { type PieceReader, RequestBody, streamedBody } from "./request-body.ts";
import { clientClosed, failedRead, failedSend } from "./send-failure.ts";
import { readRest } from "./socket-body.ts";

/** Answers requests to `demo://<name>/…` without a socket. It is given the URL with `http:` in the place of `demo:`. */
export type InProcessHandler = (request: Request) => Response | Promise<Response>;

export const demoScheme = "demo://";

type Handlers = ReadonlyMap<string, InProcessHandler>;

/** Sends to handlers of this process, under the same time-outs as to an upstream. */
export async function sendInProcess(
  clock: Clock,
  handlers: Handlers,
  request: OutboundRequest,
  signal: CallSignal,
): Promise<OutboundAnswer> {
  if (signal.aborted) throw clientClosed().with({ arrival: "unsent" });
  const exchange = new Exchange(clock, signal, request.totalMs);
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
  const host = rest.slice(0, originEnd(request.url) - demoScheme.length);
  const handler = handlers.get(host);
  if (handler === undefined) throw new Error(`no in-process upstream named ${host}`);
  const { method } = request;
  const size = streamed === null ? {} : { "content-length": String(streamed.size) };
  const headers = { ...request.headers, ...size };
  const body = streamed?.open() ?? (request.body instanceof Uint8Array ? request.body : null);
  return await handler(new Request(`http://${rest}`, { method, headers, body, signal }));
}

/** The body of a handler's answer, read only when asked. */
class InProcessBody implements AnswerBody {
  readonly #exchange: Exchange;
  readonly #reader: PieceReader | null;
  #ended = false;

  constructor(exchange: Exchange, response: Response, ended: AbortController) {
    this.#exchange = exchange;
    const reader: PieceReader | null = response.body?.getReader() ?? null;
    this.#reader = reader;
    exchange.onFail(() => {
      ended.abort();
      // Not every handler watches its signal; a cancelled reader wakes the read that waits for it.
      void reader?.cancel().catch(() => {});
    });
  }

  async read(clock: ReadClock, limitMs: number): Promise<Uint8Array | null> {
    if (this.#exchange.failure !== null) throw this.#exchange.failure;
    if (this.#ended) return null;
    this.#exchange.begin(clock, limitMs);
    for (;;) {
      const piece = await this.#next();
      // A cancelled reader ends without an error, so the reason is asked for first.
      if (this.#exchange.failure !== null) throw this.#exchange.failure;
      if (piece.done) {
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

  #next(): ReturnType<PieceReader["read"]> {
    if (this.#reader === null) return Promise.resolve({ done: true });
    return this.#reader.read().catch((thrown: unknown) => {
      this.#exchange.fail(failedRead(thrown));
      return { done: true };
    });
  }
}
