import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import PreviousAnthropic from "anthropic-sdk-previous";
import fc from "fast-check";
import {
  type AnswerBlock,
  type AnswerEvent,
  type Citation,
  Failure,
  noUsage,
  type Seal,
  type Turn,
} from "#core/index.ts";
import { cutBytes } from "../../../test/cut-stream.ts";
import type { AnswerContext } from "../codec.ts";
import { eventData, SseEvents } from "../stream/sse-events.ts";
import { anthropicMessagesCodec as codec } from "./index.ts";

const encoder = new TextEncoder();
const source = { account: "acme", newId: (prefix: string) => `${prefix}made`, warn: () => {} };
const seal = (data: string): Seal => ({ dialect: "anthropic-messages", account: "acme", data, itemId: null });
const usage = { ...noUsage, inputUncached: 25, cacheRead: 3, output: 15 };

function context(reasoning: Turn["reasoning"] = { effort: "high", budgetTokens: null, visible: true }): AnswerContext {
  return {
    ...{ turn: { reasoning } as Turn, model: "public", account: "acme", createdAt: 0, wantsUsage: true },
    ...{ newId: source.newId, warn: () => {} },
  };
}

/** Reads a stream's bytes, cut at the given places, the way the gateway does. */
function read(text: string, cuts: readonly number[] = [], end = true): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  const reader = codec.readEvents((event) => events.push(event), source);
  const sse = new SseEvents();
  for (const piece of cutBytes(encoder.encode(text), cuts)) {
    sse.push(piece, (whole, start, stop) => {
      const data = eventData(whole, start, stop);
      if (data !== "") reader.read(data);
    });
  }
  if (end) reader.end();
  return events;
}

function write(events: readonly AnswerEvent[], inside = context()): string {
  const writer = codec.writeEvents(inside);
  return events.map((event) => writer.write(event)).join("");
}

const sent = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const start = sent({
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [],
    usage: { input_tokens: 25, cache_read_input_tokens: 3, output_tokens: 1 },
  },
});
const open = (index: number, content_block: object): string =>
  sent({ type: "content_block_start", index, content_block });
const delta = (index: number, inner: object): string => sent({ type: "content_block_delta", index, delta: inner });
const close = (index: number): string => sent({ type: "content_block_stop", index });
const finish = sent({
  type: "message_delta",
  delta: { stop_reason: "tool_use", stop_sequence: null },
  usage: { output_tokens: 15 },
});
const stop = sent({ type: "message_stop" });

const cited = {
  type: "web_search_result_location",
  cited_text: "a quote",
  encrypted_index: "Eo8=",
  title: null,
  url: "https://example.com",
};

const whole = [
  start,
  sent({ type: "ping" }),
  open(0, { type: "thinking", thinking: "", signature: "" }),
  delta(0, { type: "thinking_delta", thinking: "Let me see – " }),
  delta(0, { type: "signature_delta", signature: "sig" }),
  close(0),
  open(1, { type: "redacted_thinking", data: "hidden" }),
  close(1),
  ": a comment\n\n",
  open(2, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
  delta(2, { type: "input_json_delta", partial_json: '{"query":"x"}' }),
  close(2),
  open(3, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
  close(3),
  open(4, { type: "text", text: "" }),
  delta(4, { type: "text_delta", text: "Grüße \u{1F600}" }),
  delta(4, { type: "citations_delta", citation: cited }),
  close(4),
  open(5, { type: "tool_use", id: "toolu_1", name: "look", input: {} }),
  delta(5, { type: "input_json_delta", partial_json: "" }),
  delta(5, { type: "input_json_delta", partial_json: '{"city":' }),
  delta(5, { type: "input_json_delta", partial_json: '"Paris"}' }),
  close(5),
  sent({ type: "some_new_event", data: 1 }),
  finish,
  stop,
].join("");

const citation: Citation = {
  span: null,
  quote: "a quote",
  source: { kind: "url", url: "https://example.com", title: null },
};

const expectedEvents: AnswerEvent[] = [
  { kind: "start", id: "msg_1", model: "claude" },
  { kind: "usage", usage: { ...usage, output: 1 } },
  { kind: "block-start", block: { kind: "reasoning", redacted: false } },
  { kind: "block-delta", text: "Let me see – " },
  { kind: "block-seal", seal: seal("sig") },
  { kind: "block-end" },
  { kind: "block-start", block: { kind: "reasoning", redacted: true } },
  { kind: "block-seal", seal: seal("hidden") },
  { kind: "block-end" },
  { kind: "block-start", block: { kind: "text" } },
  { kind: "block-delta", text: "Grüße \u{1F600}" },
  { kind: "block-citation", citation },
  { kind: "block-end" },
  { kind: "block-start", block: { kind: "tool-call", id: "toolu_1", name: "look" } },
  { kind: "block-delta", text: '{"city":' },
  { kind: "block-delta", text: '"Paris"}' },
  { kind: "block-end" },
  { kind: "usage", usage },
  { kind: "finish", finish: { reason: "tool-calls", stopSequence: null } },
  { kind: "end" },
];

describe("reading a message stream", () => {
  test("emits blocks, citations, seals, usage and finish, and drops server tools", () => {
    expect(read(whole)).toEqual(expectedEvents);
  });

  test("emits the same for any chunking", () => {
    for (const text of [whole, whole.replaceAll("\n", "\r\n")]) {
      fc.assert(
        fc.property(fc.array(fc.nat({ max: 5_000 }), { maxLength: 40 }), (cuts) => {
          expect(read(text, cuts)).toEqual(expectedEvents);
        }),
        { numRuns: 300 },
      );
    }
  });

  test("puts interleaved blocks in order", () => {
    const text = (index: number, value: string): string => delta(index, { type: "text_delta", text: value });
    const events = read(
      [start, open(0, { type: "text" }), open(1, { type: "text" }), text(1, "b"), text(0, "a"), text(1, "B")].join("") +
        [close(1), text(0, "A"), close(0), finish, stop].join(""),
    );
    expect(events.filter((event) => event.kind.startsWith("block"))).toEqual([
      { kind: "block-start", block: { kind: "text" } },
      { kind: "block-delta", text: "a" },
      { kind: "block-delta", text: "A" },
      { kind: "block-end" },
      { kind: "block-start", block: { kind: "text" } },
      { kind: "block-delta", text: "bB" },
      { kind: "block-end" },
    ]);
  });

  test("accepts missing block starts and inputs sent at the start", () => {
    const text = [
      delta(0, { type: "text_delta", text: "Hi" }),
      open(1, { type: "tool_use", id: "t", name: "look", input: { a: 1 } }),
    ];
    expect(read(text.join(""))).toEqual([
      { kind: "start", id: null, model: null },
      { kind: "block-start", block: { kind: "text" } },
      { kind: "block-delta", text: "Hi" },
      { kind: "block-end" },
      { kind: "block-start", block: { kind: "tool-call", id: "t", name: "look" } },
      { kind: "block-delta", text: '{"a":1}' },
      { kind: "block-end" },
      { kind: "finish", finish: { reason: "stop", stopSequence: null } },
      { kind: "end" },
    ]);
  });

  test("emits nothing after an error", () => {
    const error = sent({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
    const last = read(start + error + open(0, { type: "text" })).at(-1);
    expect(last).toMatchObject({ kind: "error", failure: { code: "upstream_error" } });
  });

  test.each([
    ["not JSON", "data: {oops\n\n"],
    ["a block without an index", sent({ type: "content_block_start", content_block: { type: "text" } })],
    ["arguments of no call", start + delta(3, { type: "input_json_delta", partial_json: "{}" })],
  ])("%s throws", (_, text) => {
    expect(() => read(text)).toThrow(Failure);
  });
});

describe("writing a message stream", () => {
  test("emits the same when read again", () => {
    expect(read(write(expectedEvents)).filter((event) => event.kind !== "usage")).toEqual(
      expectedEvents.filter((event) => event.kind !== "usage"),
    );
    expect(read(write(expectedEvents)).findLast((event) => event.kind === "usage")).toEqual({ kind: "usage", usage });
  });

  test("can be read by Anthropic's SDKs as a whole message", async () => {
    const events: AnswerEvent[] = expectedEvents.map((event) =>
      event.kind === "start" ? { ...event, id: "resp_1" } : event,
    );
    const blocks: AnswerBlock[] = [
      { kind: "reasoning", text: "Let me see – ", seal: seal("sig"), redacted: false },
      { kind: "reasoning", text: "", seal: seal("hidden"), redacted: true },
      { kind: "text", text: "Grüße \u{1F600}", citations: [citation] },
      { kind: "tool-call", id: "toolu_1", name: "look", argumentsText: '{"city":"Paris"}', seal: null },
    ];
    const answer = {
      id: "resp_1",
      model: "claude",
      blocks,
      usage,
      finish: { reason: "tool-calls" as const, stopSequence: null },
    };
    const message: unknown = JSON.parse(new TextDecoder().decode(codec.writeAnswer(answer, context())));
    const respond = async (): Promise<Response> =>
      new Response(write(events), { headers: { "content-type": "text/event-stream" } });
    const options = { apiKey: "k", fetch: respond };
    const params = { model: "m", max_tokens: 1, messages: [{ role: "user" as const, content: "Hi" }] };
    const today: unknown = await new Anthropic(options).messages.stream(params).finalMessage();
    const before: unknown = await new PreviousAnthropic(options).messages.stream(params).finalMessage();
    for (const final of [today, before]) {
      const { parsed_output: _, ...seen } = JSON.parse(JSON.stringify(final));
      expect(seen).toEqual(message);
    }
  });

  test("starts immediately and ends with the last usage, even if it follows the finish", () => {
    const writer = codec.writeEvents(context());
    expect(writer.write({ kind: "start", id: null, model: null })).toStartWith("event: message_start\n");
    expect(writer.write({ kind: "finish", finish: { reason: "stop", stopSequence: null } })).toBe("");
    expect(writer.write({ kind: "usage", usage: noUsage })).toBe("");
    expect(writer.write({ kind: "usage", usage: { ...usage, cacheWrite1h: 4 } })).toBe("");
    const [, last] = writer.write({ kind: "end" }).split(/^data: /m);
    expect(JSON.parse(last?.split("\n")[0] ?? "")).toEqual({
      type: "message_delta",
      delta: { container: null, stop_reason: "end_turn", stop_sequence: null, stop_details: null },
      usage: {
        ...{ input_tokens: 25, cache_creation_input_tokens: 4, cache_read_input_tokens: 3, output_tokens: 15 },
        ...{ output_tokens_details: { thinking_tokens: 0 }, server_tool_use: null },
      },
    });
    expect(writer.write({ kind: "block-delta", text: "late" })).toBe("");
  });

  const block = (kind: "text" | "refusal", text: string): AnswerEvent[] => [
    { kind: "block-start", block: { kind } },
    ...(text === "" ? [] : [{ kind: "block-delta" as const, text }]),
    { kind: "block-end" },
  ];
  const indexes = (text: string): string[] => [...text.matchAll(/"index":(\d+)/g)].map(([, index]) => index ?? "");

  test("writes no empty text and numbers blocks without gaps", () => {
    const text = write([...block("text", ""), ...block("text", "a"), ...block("refusal", "b"), { kind: "end" }]);
    expect(indexes(text)).toEqual(["0", "0", "0", "1", "1", "1"]);
    expect(text).toContain('"stop_reason":"refusal"');
  });

  test("closes an open block before the end", () => {
    const text = write([
      { kind: "block-start", block: { kind: "text" } },
      { kind: "block-delta", text: "a" },
      { kind: "end" },
    ]);
    expect(text.indexOf("content_block_stop")).toBeLessThan(text.indexOf("message_delta"));
    expect(text).toContain("content_block_stop");
  });

  test("hides thinking that was not requested", () => {
    const thought = expectedEvents.slice(2, 9);
    const text = write([...thought, ...block("text", "a"), { kind: "end" }], context(null));
    expect(text).not.toContain("thinking_delta");
    expect(indexes(text)).toEqual(["0", "0", "0"]);
  });

  test("replaces a picture with a note", () => {
    const picture = { kind: "base64" as const, mediaType: "image/png", data: "" };
    const events: AnswerEvent[] = [
      { kind: "block-start", block: { kind: "image", source: picture } },
      { kind: "block-end" },
    ];
    const text = write([...events, ...block("text", "a"), { kind: "end" }]);
    expect(indexes(text)).toEqual(["0", "0", "0", "1", "1", "1"]);
    expect(text).not.toContain("image");
  });

  test("writes a seal without thinking before the next block, never at the end", () => {
    const words: AnswerEvent[] = [
      { kind: "block-start", block: { kind: "text" } },
      { kind: "block-delta", text: "words" },
      { kind: "block-end" },
    ];
    const sealed: AnswerEvent[] = [
      { kind: "block-start", block: { kind: "reasoning", redacted: false } },
      { kind: "block-seal", seal: seal("sig") },
      { kind: "block-end" },
    ];
    const kinds = (events: readonly AnswerEvent[]): string[] =>
      [...write([...events, { kind: "end" }]).matchAll(/"content_block":\{[^}]*"type":"(\w+)"/g)].map(
        ([, type]) => type ?? "",
      );
    expect(kinds([...words, ...sealed])).toEqual(["text"]);
    expect(kinds([...words, ...sealed, ...words])).toEqual(["text", "thinking", "text"]);
    expect(kinds(sealed)).toEqual(["thinking"]);
  });

  test.each([[true], [false]])("reads a call's seal back with its call (seal sent before the call: %p)", (early) => {
    const gemini: Seal = { dialect: "gemini", account: "acme", data: "signed", itemId: null };
    const sealed: AnswerEvent = { kind: "block-seal", seal: gemini };
    const spoken: AnswerEvent = { kind: "block-delta", text: "{}" };
    const text = write([
      { kind: "block-start", block: { kind: "tool-call", id: "call.1", name: "look" } },
      ...(early ? [sealed, spoken] : [spoken, sealed]),
      { kind: "block-end" },
      { kind: "end" },
    ]);
    const content = [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data]) => {
      const event = JSON.parse(data ?? "");
      if (event.type === "content_block_start") return [event.content_block];
      return event.delta?.signature === undefined
        ? []
        : [{ type: "thinking", thinking: "", signature: event.delta.signature }];
    });
    const body = { max_tokens: 1, messages: [{ role: "assistant", content }] };
    const turn = codec.readTurn(encoder.encode(JSON.stringify(body)), { model: "m", stream: false }, () => {});
    expect(turn.messages[0]?.parts.filter((part) => part.kind === "tool-call")).toMatchObject([
      { id: "call.1", seal: gemini },
    ]);
  });

  test("writes nothing after an error", () => {
    const writer = codec.writeEvents(context());
    expect(writer.write({ kind: "error", failure: new Failure("upstream_error", "no") })).toBe("");
    expect(writer.write({ kind: "end" })).toBe("");
  });

  test("writes an error event if the answer ended in an error", () => {
    const text = write([{ kind: "finish", finish: { reason: "error", stopSequence: null } }, { kind: "end" }]);
    expect(text).toContain("event: error\n");
    expect(text).not.toContain("message_stop");
  });
});
