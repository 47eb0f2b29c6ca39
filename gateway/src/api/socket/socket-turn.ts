import { asFailure, bounds, Failure, type HeaderReader, type HeldMemory } from "#core/index.ts";
import { callableModels, noModel } from "#identity/index.ts";
import {
  type CreateFrame,
  endpointProtocols,
  eventLines,
  isEventStreamType,
  SseEvents,
  skimObject,
  skimValue,
  textOf,
  warmUpEvents,
} from "#protocols/index.ts";
import { serves } from "#relay/index.ts";
import { admitted } from "../authenticated.ts";
import type { CallRequest } from "../call-request.ts";
import type { Exchange } from "../dependencies.ts";
import { renderFailure } from "../respond.ts";

export interface SocketTurn {
  readonly frame: CreateFrame;
  /** The remembered items of the response that this one continues; null: not remembered, or it continues none. */
  readonly before: readonly string[] | null;
  /** Answers a request of this socket's caller. */
  readonly call: (request: Request) => Promise<Response>;
  /** Sends a frame. Returns a promise if the next frame has to wait for the reader. */
  readonly send: (text: string) => Promise<void> | undefined;
  /** The memory of events that have arrived in part. */
  readonly held: HeldMemory;
  /** Aborts when the socket has closed. */
  readonly signal: AbortSignal;
}

/** A response that has ended. */
interface TurnEnd {
  /** Set if only this socket can continue the response; null: it was not completed, or its upstream stores it. */
  readonly id: string | null;
  /** Its output, as JSON text of each item. */
  readonly items: readonly string[];
}

/** An `error` event, and the status of the corresponding HTTP answer. */
export interface ErrorFrame {
  readonly status: number;
  readonly text: string;
}

/** One response, by a call of POST /v1/responses as its caller would make it. null: the caller is gone. */
export async function socketTurn(exchange: Exchange, turn: SocketTurn): Promise<TurnEnd | ErrorFrame | null> {
  const { frame, before, call, send, signal } = turn;
  if (!frame.generates) return await warm(exchange, turn);
  const answer = await call(innerRequest(exchange.request, frame.body(before), signal));
  if (signal.aborted) {
    void answer.body?.cancel().catch(() => {});
    return null;
  }
  const isStream = isEventStreamType(answer.headers.get("content-type") ?? "");
  if (!isStream || answer.body === null) return await errorFrame(answer);
  const metadata = metadataFrame(exchange.request.headers, answer.headers);
  if (metadata !== null) await send(metadata);
  return await sendEvents(answer.body, turn);
}

/**
 * A request that generates nothing: only its input is remembered. No upstream is called, since over HTTP it has nothing to store. It
 * counts as one request in its key's limits.
 */
async function warm(exchange: Exchange, { frame, before, send }: SocketTurn): Promise<TurnEnd> {
  const { dependencies, request, address } = exchange;
  const principal = await dependencies.authenticator.authenticate(request.headers, address);
  if (dependencies.draining()) throw new Failure("draining", "The gateway is shutting down; try again.");
  return await admitted(exchange, principal, async () => {
    const models = callableModels(dependencies.configSnapshot(), principal, frame.model);
    if (models.length === 0) throw noModel(dependencies.configSnapshot(), principal, frame.model);
    if (!serves(models, endpointProtocols.responses)) {
      throw new Failure("unsupported_by_model", `The model "${frame.model}" cannot be used on this endpoint.`, {
        param: "model",
      });
    }
    if (before === null && frame.previous !== null) throw notRemembered(frame.previous);
    const id = dependencies.ids.next("resp_");
    const now = Math.floor(dependencies.clock.now() / 1_000);
    for (const text of warmUpEvents(frame.model, id, now)) await send(text);
    return { id, items: [] };
  });
}

/** Over HTTP an upstream may have stored it. Here the new response would silently continue only a part of its conversation. */
function notRemembered(id: string): Failure {
  return new Failure("not_found", `There is no response with the id "${id.slice(0, 128)}" on this WebSocket.`, {
    param: "previous_response_id",
    status: 400,
  });
}

/** A call with the handshake's headers, except for the WebSocket's own. */
function innerRequest({ url, headers: handshake }: CallRequest, body: Uint8Array, signal: AbortSignal): Request {
  const headers = new Headers([...handshake].filter(([name]) => !socketHeaders.test(name)));
  const betas = headers.get("openai-beta")?.split(",") ?? [];
  const beta = betas.filter((one) => !one.trim().startsWith("responses_websockets"));
  if (beta.length > 0) headers.set("openai-beta", beta.join(","));
  else headers.delete("openai-beta");
  headers.set("content-type", "application/json");
  headers.set("content-length", String(body.length));
  headers.set("accept", "text/event-stream");
  return new Request(url, { method: "POST", headers, body: body as Uint8Array<ArrayBuffer>, signal });
}

/** With an idempotency key, every response of the socket would count as a repetition of the first. */
const socketHeaders =
  /^(sec-websocket-.*|connection|upgrade|keep-alive|transfer-encoding|te|content-.*|accept-encoding|idempotency-key)$/;

/** The headers that an HTTP answer would have. Codex expects this frame; other clients get it only with warnings. */
function metadataFrame(handshake: HeaderReader, answered: Headers): string | null {
  const isCodex = handshake.get("originator")?.startsWith("codex") === true;
  if (!isCodex && !answered.has("x-sluice-warnings")) return null;
  const headers = Object.fromEntries([...answered].filter(([name]) => /^(x-(?!accel-).*|openai-.*)$/.test(name)));
  return JSON.stringify({ type: "codex.response.metadata", headers });
}

/** Sends the data of each event as a frame. Comments are dropped. A slow reader slows the upstream down. */
async function sendEvents(body: ReadableStream<Uint8Array>, { send, held, signal }: SocketTurn): Promise<TurnEnd> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  const output = new TurnOutput();
  const events = new SseEvents(bounds.imageEventBytesMax);
  try {
    if (signal.aborted) stop();
    for (;;) {
      const piece = await reader.read();
      if (piece.done) return output.end();
      const all: Uint8Array[] = [];
      events.push(piece.value, (bytes, start, end) => void all.push(eventLines(bytes, start, end).data));
      held.hold(events.held.length + (all.length === 0 ? 0 : piece.value.length));
      for (const data of all) {
        if (data[0] !== OPEN_OBJECT) continue;
        output.add(data);
        const room = send(decoder.decode(data));
        if (room !== undefined) await room;
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Collects a response's id and items from its events. Only these are decoded: items may hold images. */
class TurnOutput {
  #items: string[] = [];
  #characters = 0;
  #id: string | null = null;

  add(data: Uint8Array): void {
    const members = skimObject(data, 0, data.length, eventMembers);
    const type = skimValue(data, members?.get("type"));
    const item = members?.get("item");
    const response = members?.get("response");
    if (type === "response.output_item.done" && item !== undefined) {
      this.#characters += item.end - item.start;
      if (this.#fits()) this.#items.push(decoder.decode(data.subarray(item.start, item.end)));
      else this.#items = [];
    } else if (type === "response.completed" && response !== undefined) {
      const facts = skimObject(data, response.start, response.end, responseMembers);
      const isStored = skimValue(data, facts?.get("store")) !== false;
      if (!isStored && this.#fits()) this.#id = textOf(skimValue(data, facts?.get("id")));
    }
  }

  end(): TurnEnd {
    return { id: this.#id, items: this.#items };
  }

  #fits(): boolean {
    return this.#characters <= bounds.socketLaneCharactersMax;
  }
}

const OPEN_OBJECT = 0x7b;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const eventMembers: ReadonlySet<string> = new Set(["type", "item", "response"]);
const responseMembers: ReadonlySet<string> = new Set(["id", "store"]);

/** A failure before there was a call. */
export function failureFrame(thrown: unknown, requestId: string): Promise<ErrorFrame> {
  const failure = asFailure(thrown);
  const answer = renderFailure(failure, requestId, {}, endpointProtocols.responses.dialect);
  return errorFrame(answer, failure.code === "not_found");
}

/** An answer that is not a stream in OpenAI's WebSocket shape: status, error and headers. */
async function errorFrame(
  answer: Response,
  mayBeNotFound = answer.status === 400 || answer.status === 404,
): Promise<ErrorFrame> {
  const { status } = answer;
  const error = errorIn(await answer.text());
  const code =
    mayBeNotFound && error["param"] === "previous_response_id"
      ? // After OpenAI's code, clients send the whole conversation again.
        "previous_response_not_found"
      : (error["code"] ?? error["type"] ?? "error");
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== "content-type"));
  return { status, text: JSON.stringify({ type: "error", status, error: { ...error, code }, headers }) };
}

function errorIn(text: string): Record<string, unknown> {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === "object" && error !== null) return { ...error };
  } catch {
    // The text is shown instead.
  }
  return { type: "upstream_error", code: "upstream_error", message: text.slice(0, 1_000), param: null };
}

/** An error of the WebSocket itself, with OpenAI's code. */
export function socketError(status: number, code: string, message: string): string {
  return JSON.stringify({
    type: "error",
    status,
    error: { type: "invalid_request_error", code, message, param: null },
  });
}
