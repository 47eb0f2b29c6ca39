import type { Socket } from "node:net";
import type { ProviderConfig } from "@sluice/contract";
import { type RawUpstream, startRawUpstream } from "../raw-upstream.ts";

/** A piece of a stream, sent in its own TCP segment. Null resets the connection; a function is called and awaited. */
export type Piece = string | null | (() => unknown);

const head =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n";
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** An upstream that streams the script of the test, regardless of the request. */
export async function startScriptedUpstream(): Promise<RawUpstream & { script: readonly Piece[] }> {
  let script: readonly Piece[] = [];
  const upstream = await startRawUpstream((socket) => void play(socket, script));
  return Object.defineProperty(upstream as RawUpstream & { script: readonly Piece[] }, "script", {
    get: () => script,
    set: (pieces: readonly Piece[]) => {
      script = pieces;
    },
  });
}

async function play(socket: Socket, script: readonly Piece[]): Promise<void> {
  socket.setNoDelay(true);
  socket.write(head);
  for (const piece of script) {
    if (piece === null) {
      socket.resetAndDestroy();
      return;
    }
    if (typeof piece === "string") socket.write(chunk(piece));
    else await piece();
    await turns();
  }
  socket.write("0\r\n\r\n");
}

/** Gives the gateway, which shares this event loop, time to read the data. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function providerAt(id: string, served: string, upstream: Pick<RawUpstream, "url">): ProviderConfig {
  const [path, endpoints] = {
    "openai-compatible": ["/v1", undefined],
    openai: ["/v1", ["responses" as const]],
    anthropic: ["", undefined],
    gemini: ["/v1beta", ["generate" as const]],
    "gemini-interactions": ["/v1beta", ["interactions" as const]],
  }[served] ?? ["", undefined];
  return {
    id,
    kind: served === "gemini-interactions" ? "gemini" : served,
    base_url: `${upstream.url}${path}`,
    api_key: `sk-of-${id}`,
    allow_private_network: true,
    ...(endpoints === undefined ? {} : { settings: { endpoints } }),
  };
}

export const event = (data: { readonly type?: string; readonly [member: string]: unknown }): string => {
  const eventLine = data.type === undefined ? "" : `event: ${data.type}\n`;
  return `${eventLine}data: ${JSON.stringify(data)}\n\n`;
};

const chatChunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "up" },
  choices: [{ index: 0, delta, finish_reason }],
});
const chatUsage = { prompt_tokens: 5_000, completion_tokens: 1, total_tokens: 5_001 };
const geminiChunk = (text: string, more: object = {}, usage: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...more }],
  usageMetadata: { promptTokenCount: 5_000, totalTokenCount: 5_000, ...usage },
  modelVersion: "up",
  responseId: "r1",
});
const item = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
const response = { id: "resp_1", object: "response", model: "up", output: [], usage: null };
const part = { type: "output_text", text: "", annotations: [] };
const started = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "up", content: [], stop_reason: null },
  usage: { input_tokens: 5_000, output_tokens: 1 },
};

const stepEvent = (event_type: string, more: object): string =>
  `event: ${event_type}\n${event({ event_type, ...more })}`;
const interaction = { id: "v1_1", object: "interaction", model: "up" };
const stepUsage = { total_input_tokens: 5_000, total_output_tokens: 1, total_tokens: 5_001 };

/** The stream of each dialect's vendors: the events before the content, one piece of content, and the final events. */
export interface DialectScript {
  /** For `providerAt`. */
  readonly kind: string;
  readonly upstreamModel: string;
  readonly preamble: readonly string[];
  readonly content: string;
  readonly end: readonly string[];
}

export const scripts: Readonly<Record<"chat" | "messages" | "responses" | "gemini" | "interactions", DialectScript>> = {
  chat: {
    kind: "openai-compatible",
    upstreamModel: "up",
    preamble: [": OPENROUTER PROCESSING\n\n", event(chatChunk({ role: "assistant", content: "", tool_calls: null }))],
    content: event(chatChunk({ content: "hello" })),
    end: [event(chatChunk({}, "stop")), event({ ...chatChunk({}), choices: [], usage: chatUsage }), "data: [DONE]\n\n"],
  },
  messages: {
    kind: "anthropic",
    upstreamModel: "claude-opus-5",
    preamble: [
      event({ type: "message_start", message: started }),
      event({ type: "ping" }),
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ],
    content: event({
      ...{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
    }),
    end: [
      event({ type: "content_block_stop", index: 0 }),
      event({
        ...{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      }),
      event({ type: "message_stop" }),
    ],
  },
  responses: {
    kind: "openai",
    upstreamModel: "gpt-5",
    preamble: [
      event({ type: "response.created", response: { ...response, status: "in_progress" } }),
      event({ type: "response.in_progress", response: { ...response, status: "in_progress" } }),
      event({ type: "response.output_item.added", output_index: 0, item }),
      event({ type: "response.content_part.added", output_index: 0, content_index: 0, part }),
    ],
    content: event({
      ...{ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "hello", logprobs: [] },
    }),
    end: [
      event({
        type: "response.completed",
        response: { ...response, status: "completed", usage: { input_tokens: 5_000, output_tokens: 1 } },
      }),
    ],
  },
  gemini: {
    kind: "gemini",
    upstreamModel: "gemini-3-pro",
    preamble: [event(geminiChunk(""))],
    content: event(geminiChunk("hello")),
    end: [event(geminiChunk("", { finishReason: "STOP" }, { candidatesTokenCount: 1, totalTokenCount: 5_001 }))],
  },
  interactions: {
    kind: "gemini-interactions",
    upstreamModel: "gemini-3-pro",
    preamble: [
      stepEvent("interaction.created", { interaction: { ...interaction, status: "in_progress" } }),
      stepEvent("interaction.status_update", { interaction_id: "v1_1", status: "in_progress" }),
      stepEvent("step.start", { index: 0, step: { type: "model_output" } }),
    ],
    content: stepEvent("step.delta", { index: 0, delta: { type: "text", text: "hello" } }),
    end: [
      stepEvent("step.stop", { index: 0 }),
      stepEvent("interaction.completed", { interaction: { ...interaction, status: "completed", usage: stepUsage } }),
      "data: [DONE]\n\n",
    ],
  },
};

export type DialectName = keyof typeof scripts;
export const dialects = Object.keys(scripts) as readonly DialectName[];

/** An upstream's error as an event of its dialect. */
export const overloads: Readonly<Record<DialectName, string>> = {
  chat: event({ error: { message: "Overloaded", type: "server_error", code: 503 } }),
  messages: event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  responses: event({ type: "error", code: "server_is_overloaded", message: "Overloaded", param: null }),
  gemini: event({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }),
  interactions: stepEvent("error", { error: { code: "unavailable", message: "The model is overloaded." } }),
};

/** A streamed call of each dialect. */
export const calls: Readonly<Record<DialectName, (model: string) => readonly [path: string, body: object]>> = {
  chat: (model) => [
    "/v1/chat/completions",
    { model, stream: true, stream_options: { include_usage: true }, messages: [{ role: "user", content: "hi" }] },
  ],
  messages: (model) => [
    "/v1/messages",
    { model, stream: true, max_tokens: 100, messages: [{ role: "user", content: "hi" }] },
  ],
  responses: (model) => ["/v1/responses", { model, stream: true, store: false, input: "hi" }],
  gemini: (model) => [
    `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  ],
  interactions: (model) => ["/v1beta/interactions", { model, stream: true, store: false, input: "hi" }],
};
