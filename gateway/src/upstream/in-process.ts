import type { CallSignal, PieceReader } from "#core/index.ts";
import type { Clock, OutboundAnswer, OutboundRequest } from "#ports/index.ts";
import { Exchange } from "./exchange.ts";
import { originEnd } from "./origin.ts";
import { RequestBody, streamedBody } from "./request-body.ts";
import { clientClosed, failedRead, failedSend } from "./send-failure.ts";
import { SocketBody } from "./socket-body.ts";

/** Answers requests to `demo://<name>/…` without a socket. The URL that it gets has `http:` instead of `demo:`. */
export type InProcessHandler = (request: Request) => Response | Promise<Response>;

export const demoScheme = "demo://";

type Handlers = ReadonlyMap<string, InProcessHandler>;

/** Sends to a handler in this process, with the same timeouts as to an upstream. */
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
    return { status: response.status, headers: response.headers, body: bodyOf(exchange, response, ended) };
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

/** The body of a handler's answer. It is read ahead as far as that of a socket. */
function bodyOf(exchange: Exchange, response: Response, ended: AbortController): SocketBody {
  const reader: PieceReader | null = response.body?.getReader() ?? null;
  let room: PromiseWithResolvers<void> | null = null;
  const flow = {
    pause: () => {
      room ??= Promise.withResolvers<void>();
    },
    resume: () => {
      room?.resolve();
      room = null;
    },
  };
  const body = new SocketBody(exchange, flow, -1);
  exchange.onFail(() => {
    ended.abort();
    // Not every handler watches its signal.
    void reader?.cancel().catch(() => {});
    if (exchange.failure !== null) body.failed(exchange.failure);
    flow.resume();
  });
  const pump = async (): Promise<void> => {
    for (;;) {
      const piece = await reader?.read();
      if (exchange.failure !== null) return;
      if (piece === undefined || piece.done) return body.finish();
      if (piece.value.length > 0) body.push(piece.value);
      await room?.promise;
    }
  };
  pump().catch((thrown: unknown) => body.breakOff(failedRead(thrown)));
  return body;
}
