import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Turn } from "#core/index.ts";
import { anthropicMessagesCodec } from "#protocols/anthropic-messages/index.ts";
import { bedrockConverseCodec } from "#protocols/bedrock-converse/index.ts";
import type { CallerCodec, UpstreamCodec } from "#protocols/codec.ts";
import { geminiCodec } from "#protocols/gemini/index.ts";
import { geminiInteractionsCodec } from "#protocols/gemini-interactions/index.ts";
import { openaiChatCodec } from "#protocols/openai-chat/index.ts";
import { openaiResponsesCodec } from "#protocols/openai-responses/index.ts";
import { context, source } from "./codec-fixture.ts";
import { emptyTurn } from "./turn-arbitraries.ts";

/**
 * A tool call as an upstream streams it: the joined `pieces` are its arguments. No pieces, or empty ones, mean no
 * arguments.
 */
interface SentCall {
  readonly id: string;
  readonly pieces: readonly string[];
}

interface SourceDialect {
  readonly codec: UpstreamCodec;
  /** Events as the dialect's vendor sends them. */
  readonly events: (calls: readonly SentCall[]) => readonly unknown[];
  /** Calls in one answer; default any number. */
  readonly one?: true;
}

interface TargetDialect {
  readonly codec: CallerCodec;
  readonly turn?: Partial<Turn>;
  /** The arguments of each call, as a client of the dialect joins them. */
  readonly joined: (events: readonly ClientEvent[]) => readonly string[];
}

/** The members of events from which clients of any dialect read arguments. */
interface ClientEvent {
  readonly type?: string;
  readonly index?: number;
  readonly output_index?: number;
  readonly arguments?: string;
  readonly delta?: string | { readonly type: string; readonly partial_json?: string; readonly arguments?: string };
  readonly choices?: readonly { readonly delta: ChatDelta }[];
  readonly event_type?: string;
  readonly step?: { readonly type: string; readonly arguments?: object };
  readonly candidates?: readonly { readonly content: { readonly parts: readonly GeminiPart[] } }[];
}

interface ChatDelta {
  readonly tool_calls?: readonly { readonly index: number; readonly function: { readonly arguments: string } }[];
  readonly function_call?: { readonly arguments: string };
}

interface GeminiPart {
  readonly functionCall?: { readonly args: object };
}

const name = "get_time";
const joined = ({ pieces }: SentCall): string => pieces.join("");
const chatChunk = (delta: object, finish: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "up",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const sources: Record<string, SourceDialect> = {
  chat: {
    codec: openaiChatCodec,
    events: (calls) => [
      chatChunk({ role: "assistant", content: "" }),
      ...calls.flatMap(({ id, pieces }, index) => [
        chatChunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        ...pieces.map((piece) => chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chatChunk({}, "tool_calls"),
    ],
  },
  "chat with function_call": {
    codec: openaiChatCodec,
    one: true,
    events: (calls) => [
      ...calls.flatMap(({ pieces }) => [
        chatChunk({ role: "assistant", content: null, function_call: { name, arguments: "" } }),
        ...pieces.map((piece) => chatChunk({ function_call: { arguments: piece } })),
      ]),
      chatChunk({}, "function_call"),
    ],
  },
  messages: {
    codec: anthropicMessagesCodec,
    events: (calls) => [
      { type: "message_start", message: { id: "m1", model: "up", usage: { input_tokens: 1, output_tokens: 1 } } },
      ...calls.flatMap(({ id, pieces }, index) => [
        { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } },
        ...pieces.map((partial_json) => ({
          type: "content_block_delta",
          index,
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ],
  },
  responses: {
    codec: openaiResponsesCodec,
    events: (calls) => [
      { type: "response.created", response: { id: "resp_1", model: "up" } },
      ...calls.flatMap((call, output_index) => {
        const item = { type: "function_call", id: `fc_${output_index}`, call_id: call.id, name, arguments: "" };
        return [
          { type: "response.output_item.added", output_index, item },
          ...call.pieces.map((delta) => ({ type: "response.function_call_arguments.delta", output_index, delta })),
          { type: "response.output_item.done", output_index, item: { ...item, arguments: joined(call) } },
        ];
      }),
      { type: "response.completed", response: { id: "resp_1", model: "up", status: "completed", output: [] } },
    ],
  },
  gemini: {
    codec: geminiCodec,
    events: (calls) => [
      ...calls.map((call) => {
        const args = joined(call) === "" ? {} : { args: JSON.parse(joined(call)) };
        return { candidates: [{ content: { parts: [{ functionCall: { id: call.id, name, ...args } }] } }] };
      }),
      { candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }] },
    ],
  },
  interactions: {
    codec: geminiInteractionsCodec,
    events: (calls) => [
      { event_type: "interaction.created", interaction: { id: "v1_1", model: "up", status: "in_progress" } },
      ...calls.flatMap(({ id, pieces }, index) => [
        { event_type: "step.start", index, step: { type: "function_call", id, name, arguments: {} } },
        ...pieces.map((text) => ({
          event_type: "step.delta",
          index,
          delta: { type: "arguments_delta", arguments: text },
        })),
        { event_type: "step.stop", index },
      ]),
      {
        event_type: "interaction.completed",
        interaction: { id: "v1_1", model: "up", status: "requires_action" },
      },
    ],
  },
  "interactions with whole arguments": {
    codec: geminiInteractionsCodec,
    events: (calls) => [
      { event_type: "interaction.created", interaction: { id: "v1_1", model: "up", status: "in_progress" } },
      ...calls.flatMap((call, index) => {
        const args = joined(call) === "" ? {} : { arguments: JSON.parse(joined(call)) };
        return [
          { event_type: "step.start", index, step: { type: "function_call", id: call.id, name, ...args } },
          { event_type: "step.stop", index },
        ];
      }),
      {
        event_type: "interaction.completed",
        interaction: { id: "v1_1", model: "up", status: "requires_action" },
      },
    ],
  },
  converse: {
    codec: bedrockConverseCodec,
    events: (calls) => [
      { messageStart: { role: "assistant" } },
      ...calls.flatMap(({ id, pieces }, contentBlockIndex) => [
        { contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } } },
        ...pieces.map((input) => ({ contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input } } } })),
        { contentBlockStop: { contentBlockIndex } },
      ]),
      { messageStop: { stopReason: "tool_use" } },
    ],
  },
};

const targets: Record<string, TargetDialect> = {
  chat: {
    codec: openaiChatCodec,
    joined: (events) =>
      joinedByIndex(
        events
          .flatMap(({ choices }) => choices?.[0]?.delta.tool_calls ?? [])
          .map((call) => [call.index, call.function.arguments]),
      ),
  },
  "chat with function_call": {
    codec: openaiChatCodec,
    turn: { legacyFunctions: true },
    joined: (events) =>
      joinedByIndex(
        events.flatMap(({ choices }) => choices?.[0]?.delta.function_call ?? []).map((call) => [0, call.arguments]),
      ),
  },
  messages: {
    codec: anthropicMessagesCodec,
    joined: (events) =>
      joinedByIndex(
        events.flatMap(({ index = -1, delta }) =>
          typeof delta === "object" && delta.type === "input_json_delta" ? [[index, delta.partial_json ?? ""]] : [],
        ),
      ),
  },
  responses: {
    codec: openaiResponsesCodec,
    joined: (events) => {
      const deltas = joinedByIndex(
        events.flatMap(({ type, output_index = -1, delta }) =>
          type === "response.function_call_arguments.delta" && typeof delta === "string" ? [[output_index, delta]] : [],
        ),
      );
      const whole = events.filter(({ type }) => type === "response.function_call_arguments.done");
      expect(whole.map((event) => event.arguments ?? "")).toEqual([...deltas]);
      return deltas;
    },
  },
  gemini: {
    codec: geminiCodec,
    joined: (events) =>
      events
        .flatMap(({ candidates }) => candidates?.[0]?.content.parts ?? [])
        .flatMap(({ functionCall }) => (functionCall === undefined ? [] : [JSON.stringify(functionCall.args)])),
  },
  interactions: {
    codec: geminiInteractionsCodec,
    joined: (events) =>
      joinedByIndex(
        events.flatMap(({ event_type, index = -1, step, delta }): (readonly [number, string])[] => {
          // A client of the dialect starts with an empty text, also where no piece follows.
          if (event_type === "step.start" && step?.type === "function_call") return [[index, ""]];
          if (typeof delta !== "object" || delta.type !== "arguments_delta") return [];
          return [[index, delta.arguments ?? ""]];
        }),
      ).map((text) => (text === "" ? "{}" : text)),
  },
};

const argumentsText = fc.oneof(
  fc.constant(""),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }).map((value) => JSON.stringify(value)),
);
const sentCalls = fc
  .array(fc.tuple(argumentsText, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 3 })
  .map((calls) =>
    calls.map(([text, cuts], index): SentCall => ({ id: `call_${index + 1}`, pieces: cutInto(text, cuts) })),
  );

for (const [from, upstream] of Object.entries(sources)) {
  for (const [to, caller] of Object.entries(targets)) {
    describe(`tool calls streamed from ${from} to ${to}`, () => {
      test("have the upstream's arguments as valid JSON, or {} where there are none", () => {
        fc.assert(
          fc.property(sentCalls, (calls) => {
            const sent = upstream.one === true || caller.turn?.legacyFunctions === true ? calls.slice(0, 1) : calls;
            const received = caller.joined(translated(upstream, caller, sent));
            expect(received.map((text) => JSON.parse(text))).toEqual(
              sent.map((call) => JSON.parse(joined(call) === "" ? "{}" : joined(call))),
            );
          }),
          { numRuns: 60 },
        );
      });
    });
  }
}

/** The payloads of the events that the caller gets. */
function translated(upstream: SourceDialect, caller: TargetDialect, calls: readonly SentCall[]) {
  const writer = caller.codec.writeEvents(context({ ...emptyTurn, ...caller.turn }));
  let text = "";
  const reader = upstream.codec.readEvents((event) => {
    text += writer.write(event);
  }, source());
  for (const event of upstream.events(calls)) reader.read(JSON.stringify(event));
  reader.end();
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]): ClientEvent => JSON.parse(json));
}

function joinedByIndex(pieces: readonly (readonly [index: number, text: string])[]): readonly string[] {
  const texts = new Map<number, string>();
  for (const [index, text] of pieces) texts.set(index, (texts.get(index) ?? "") + text);
  return [...texts.values()];
}

/** A text in pieces. An empty text is sent as an empty piece, or not at all when there are no cuts. */
function cutInto(text: string, cuts: number): readonly string[] {
  if (text === "") return cuts === 0 ? [] : [""];
  const size = Math.ceil(text.length / (cuts + 1));
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}
