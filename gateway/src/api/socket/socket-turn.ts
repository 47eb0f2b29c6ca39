import { asFailure, Failure, type HeaderReader } from "#core/index.ts";
import { type CreateFrame, isEventStreamType, warmedEvents } from "#protocols/index.ts";
import { serves } from "#relay/index.ts";
import { admitted } from "../authenticated.ts";
import type { CallRequest } from "../call-request.ts";
import { callableModels, noModel } from "../callable-models.ts";
import type { ApiDependencies, Exchange } from "../dependencies.ts";
import { protocols } from "../endpoint-protocols.ts";
import { renderFailure } from "../respond.ts";
import { type AnswerEnd, type AnswerWriting, sendAnswer } from "./answer-frames.ts";

export interface SocketTurn extends AnswerWriting {
  readonly frame: CreateFrame;
  /** What the socket remembers of the response that this one goes on from. */
  readonly before: readonly string[] | null;
  /** Answers a request of this socket's caller. */
  readonly call: (request: Request) => Promise<Response>;
}

/** One response: by a call of POST /v1/responses as its caller would make it. null: the caller has gone. */
export async function socketTurn(
  dependencies: ApiDependencies,
  exchange: Exchange,
  turn: SocketTurn,
): Promise<AnswerEnd | ErrorFrame | null> {
  const { frame, before, call, send, held, signal } = turn;
  if (!frame.generates) return await warm(dependencies, exchange, turn);
  const answer = await call(innerRequest(exchange.request, frame.body(before), signal));
  if (signal.aborted) {
    void answer.body?.cancel().catch(() => {});
    return null;
  }
  const isStream = isEventStreamType(answer.headers.get("content-type") ?? "");
  if (!isStream || answer.body === null) return await errorFrame(answer);
  const metadata = metadataFrame(exchange.request.headers, answer.headers);
  if (metadata !== null) await send(metadata);
  return await sendAnswer(answer.body, { send, held, signal });
}

/**
 * A request that generates nothing only has its input remembered: no upstream is asked, since over HTTP there is nothing
 * that it could keep. It is one request of its key's limits.
 */
async function warm(
  dependencies: ApiDependencies,
  exchange: Exchange,
  { frame, before, send }: SocketTurn,
): Promise<AnswerEnd> {
  const { request, address } = exchange;
  const principal = await dependencies.authenticator.authenticate(request.headers, address);
  if (dependencies.draining()) throw new Failure("draining", "The gateway is shutting down; try again.");
  return await admitted(dependencies, principal, async () => {
    const models = callableModels(dependencies.configSnapshot(), principal, frame.model);
    if (models.length === 0) throw noModel(dependencies.configSnapshot(), principal, frame.model);
    if (!serves(models, protocols.responses)) {
      throw new Failure("unsupported_by_model", `The model "${frame.model}" cannot be used on this endpoint.`, {
        param: "model",
      });
    }
    if (before === null && frame.previous !== null) throw notRemembered(frame.previous);
    const id = dependencies.ids.next("resp_");
    const now = Math.floor(dependencies.clock.now() / 1_000);
    for (const text of warmedEvents(frame.model, id, now)) await send(text);
    return { id, items: [] };
  });
}

/** Over HTTP an upstream may keep it; here the new response would go on from a part of its conversation without a word. */
function notRemembered(id: string): Failure {
  return new Failure("not_found", `There is no response with the id "${id.slice(0, 128)}" on this WebSocket.`, {
    param: "previous_response_id",
    status: 400,
  });
}

/** With what its caller sent when the socket was opened, but for what concerns the socket. */
function innerRequest({ url, headers: sent }: CallRequest, body: Uint8Array, signal: AbortSignal): Request {
  const headers = new Headers([...sent]);
  for (const name of [...headers.keys()]) if (ofTheSocket.test(name)) headers.delete(name);
  const beta = headers
    .get("openai-beta")
    ?.split(",")
    .filter((one) => !one.trim().startsWith("responses_websockets"));
  if (beta !== undefined && beta.length > 0) headers.set("openai-beta", beta.join(","));
  else headers.delete("openai-beta");
  headers.set("content-type", "application/json");
  headers.set("content-length", String(body.length));
  headers.set("accept", "text/event-stream");
  return new Request(url, { method: "POST", headers, body: body as Uint8Array<ArrayBuffer>, signal });
}

/** An idempotency key too: every response of the socket would be taken for the first. */
const ofTheSocket =
  /^(sec-websocket-.*|connection|upgrade|keep-alive|transfer-encoding|te|content-.*|accept-encoding|idempotency-key)$/;

/**
 * What stands in the headers of an answer over HTTP. Codex knows this frame from OpenAI; others get it only where something
 * could not be carried.
 */
function metadataFrame(asked: HeaderReader, answered: Headers): string | null {
  const isCodex = asked.get("originator")?.startsWith("codex") === true;
  if (!isCodex && !answered.has("x-sluice-warnings")) return null;
  const headers = Object.fromEntries([...answered].filter(([name]) => told.test(name)));
  return JSON.stringify({ type: "codex.response.metadata", headers });
}

const told = /^(x-(?!accel-).*|openai-.*)$/;

/** What an `error` event tells beside the error of its HTTP answer. */
export interface ErrorFrame {
  readonly status: number;
  readonly text: string;
}

/** An answer that is no stream, as OpenAI tells it over a WebSocket: its status, its error, and its headers. */
async function errorFrame(answer: Response): Promise<ErrorFrame> {
  const error = errorIn(await answer.text());
  return frameOf(answer, answer.status === 400 || answer.status === 404 ? unknownPrevious(error) : error);
}

/** With OpenAI's code, at which clients send the whole conversation again. */
function unknownPrevious(error: Record<string, unknown>): Record<string, unknown> {
  return error["param"] === "previous_response_id" ? { ...error, code: "previous_response_not_found" } : error;
}

/** A failure that was met before there was a request. */
export async function failureFrame(thrown: unknown, requestId: string): Promise<ErrorFrame> {
  const failure: Failure = asFailure(thrown);
  const answer = renderFailure(failure, requestId, {}, protocols.responses.dialect);
  const error = errorIn(await answer.text());
  return frameOf(answer, failure.code === "not_found" ? unknownPrevious(error) : error);
}

function frameOf({ status, headers: all }: Response, said: Record<string, unknown>): ErrorFrame {
  const headers = Object.fromEntries([...all].filter(([name]) => name !== "content-type"));
  const error = { ...said, code: said["code"] ?? said["type"] ?? "error" };
  return { status, text: JSON.stringify({ type: "error", status, error, headers }) };
}

/** An error of the WebSocket itself, by OpenAI's codes for those. */
export function socketError(status: number, code: string, message: string): string {
  return JSON.stringify({
    type: "error",
    status,
    error: { type: "invalid_request_error", code, message, param: null },
  });
}

function errorIn(text: string): Record<string, unknown> {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === "object" && error !== null) return { ...error };
  } catch {
    // Said as far as it can be.
  }
  return { type: "upstream_error", code: "upstream_error", message: text.slice(0, 1_000), param: null };
}
