import { type CallSignal, type PieceReader, pulledStream } from "#core/index.ts";
import type { OutboundAnswer, OutboundRequest } from "#ports/index.ts";
import { type Deadlines, OutboundExchange } from "./exchange.ts";
import { partsOf } from "./origin.ts";
import { PushedBody } from "./pushed-body.ts";
import { piecesAtOnce, RequestBody, streamedBody } from "./request-body.ts";
import { clientClosed, failedRead, failedSend } from "./send-failure.ts";

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
  const { body } = request;
  const pieces = piecesAtOnce(body);
  const whole = body === null || pieces === null ? null : Buffer.concat(pieces);
  const streamed =
    body === null || pieces !== null ? null : new RequestBody(streamedBody(body), exchange, request.headersMs);
  try {
    request.beforeSending?.();
    exchange.begin("headers", request.headersMs);
    const answer = answerOf(handlers, request, streamed ?? whole, ended.signal);
    const response = await exchange.race(answer, (late) => void late.body?.cancel().catch(() => {}));
    streamed?.answered();
    exchange.pause();
    const { status, headers } = response;
    return { status, headers, body: bodyOf(exchange, response, ended) };
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
  body: RequestBody | Uint8Array<ArrayBuffer> | null,
  signal: AbortSignal,
): Promise<Response> {
  const host = partsOf(request.url).origin.slice(demoScheme.length);
  const handler = handlers.get(host);
  if (handler === undefined) throw new Error(`no in-process upstream named ${host}`);
  const streamed = body instanceof RequestBody ? body : null;
  return await handler(
    new Request(`http://${request.url.slice(demoScheme.length)}`, {
      method: request.method,
      headers: streamed === null ? request.headers : { ...request.headers, "content-length": String(streamed.size) },
      body:
        body instanceof RequestBody
          ? pulledStream(
              () => body.next(),
              () => body.cancel(),
            )
          : body,
      signal,
    }),
  );
}

/** The body of a handler's answer, read only on demand. Ends the handler if the exchange fails. */
function bodyOf(exchange: OutboundExchange, { body: stream }: Response, ended: AbortController): PushedBody {
  const reader: PieceReader | null = stream?.getReader() ?? null;
  const pull = async (): Promise<void> => {
    try {
      let piece = await reader?.read();
      while (piece?.done === false && piece.value.length === 0) piece = await reader?.read();
      if (piece?.done === false) body.push(piece.value);
      else body.finish();
    } catch (thrown) {
      body.breakOff(failedRead(thrown));
    }
  };
  const body = new PushedBody(exchange, { pause: () => {}, resume: () => void pull() }, -1);
  exchange.onFail({
    onFailure(failure) {
      ended.abort();
      // Not every handler watches its signal. Canceling the reader ends the pending read.
      void reader?.cancel().catch(() => {});
      body.failed(failure);
    },
  });
  return body;
}
