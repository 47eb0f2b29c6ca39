import { describe, expect, test } from "bun:test";
import { ChatCompletionStream } from "openai/lib/ChatCompletionStream";
import { type AnswerEvent, bounds, Failure, noUsage, type Turn } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { customTool } from "./custom-tool.ts";
import { ChatEventReader } from "./read-answer.ts";
import { ChatEventWriter } from "./write-answer.ts";

function read(...chunks: readonly (object | string)[]): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  let ids = 0;
  const reader = new ChatEventReader((event) => events.push(event), {
    account: "acc",
    newId: (prefix) => `${prefix}new${++ids}`,
    warn: () => {},
  });
  for (const chunk of chunks) reader.read(typeof chunk === "string" ? chunk : JSON.stringify(chunk));
  reader.end();
  return events;
}

const chunk = (delta: object, finish: string | null = null, rest: object = {}): object => ({
  id: "chatcmpl-1",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...rest,
});
const callDelta = (call: object): object => chunk({ tool_calls: [call] });
const usage = { prompt_tokens: 9, completion_tokens: 3 };

/** Events in few words: calls with their arguments, texts joined. */
function short(events: readonly AnswerEvent[]): readonly string[] {
  const words: string[] = [];
  for (const event of events) {
    if (event.kind === "block-start") {
      words.push(event.block.kind === "tool-call" ? `${event.block.name}#${event.block.id}:` : `${event.block.kind}:`);
    } else if (event.kind === "block-delta") words[words.length - 1] += event.text;
    else if (event.kind === "finish") words.push(event.finish.reason);
    else if (event.kind !== "block-end") words.push(event.kind);
  }
  return words;
}

describe("reading a chat stream", () => {
  test("emits reasoning, text and calls in order, with usage from any chunk", () => {
    const events = read(
      { id: "", model: "", choices: [], prompt_filter_results: [] },
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "hm" }),
      chunk({ content: "Hi" }),
      chunk({ content: " there" }, "stop"),
      { choices: [], usage },
      "[DONE]",
    );
    expect(short(events)).toEqual(["start", "reasoning:hm", "text:Hi there", "usage", "stop", "end"]);
    expect(events[0]).toEqual({ kind: "start", id: "chatcmpl-1", model: "m" });
  });

  test("puts interleaved calls in order", () => {
    const events = read(
      callDelta({ index: 0, id: "a", function: { name: "one", arguments: "" } }),
      callDelta({ index: 1, id: "b", function: { name: "two", arguments: "2" } }),
      callDelta({ index: 0, function: { arguments: "1" } }),
      callDelta({ index: 1, function: { arguments: "2" } }),
      callDelta({ index: 0, function: { arguments: "1" } }),
      chunk({}, "tool_calls"),
    );
    expect(short(events)).toEqual(["start", "one#a:11", "two#b:22", "tool-calls", "end"]);
  });

  test("streams the first call as it arrives", () => {
    const events: AnswerEvent[] = [];
    const reader = new ChatEventReader((event) => events.push(event), {
      account: "acc",
      newId: () => "x",
      warn: () => {},
    });
    reader.read(JSON.stringify(callDelta({ index: 0, id: "a", function: { name: "one", arguments: '{"' } })));
    expect(events.at(-1)).toEqual({ kind: "block-delta", text: '{"' });
  });

  test("accepts other vendors' ways to number calls", () => {
    const whole = (call: object): object => ({ function: { name: "look", arguments: "{}" }, ...call });
    const calls = (...deltas: object[]): readonly string[] => short(read(...deltas.map(callDelta), chunk({}, "stop")));
    const noIndex = calls(whole({ id: "a" }), whole({ id: "b" }));
    expect(noIndex).toEqual(["start", "look#a:{}", "look#b:{}", "tool-calls", "end"]);
    const nothing = calls({ function: { name: "look", arguments: "" } }, { function: { arguments: "{}" } });
    expect(nothing).toEqual(["start", "look#call_new1:{}", "tool-calls", "end"]);
    const allZero = calls(whole({ index: 0, id: "a" }), whole({ index: 0, id: "b" }));
    expect(allZero).toEqual(["start", "look#a:{}", "look#b:{}", "tool-calls", "end"]);
    const repeated = calls(
      { index: 0, id: "a", function: { name: "look", arguments: "{" } },
      { index: 0, id: "a", function: { name: "look", arguments: "}" } },
    );
    expect(repeated).toEqual(["start", "look#a:{}", "tool-calls", "end"]);
  });

  test("reads the deprecated function_call as a tool call", () => {
    const events = read(
      chunk({ function_call: { name: "look", arguments: "" } }),
      chunk({ function_call: { arguments: "{}" } }),
      chunk({}, "function_call"),
    );
    expect(short(events)).toEqual(["start", "look#call_new1:{}", "tool-calls", "end"]);
  });

  test("keeps Gemini's signature with its call", () => {
    const events = read(
      callDelta({
        index: 0,
        id: "a",
        function: { name: "look", arguments: "{}" },
        extra_content: { google: { thought_signature: "sig" } },
      }),
      chunk({}, "stop"),
    );
    expect(events).toContainEqual({
      kind: "block-seal",
      seal: { dialect: "gemini", account: "acc", data: "sig", itemId: null },
    });
  });

  test("ends with an error that it reports", () => {
    const events = read(chunk({ content: "x" }), { error: { message: "overloaded" } }, chunk({ content: "y" }));
    expect(short(events).at(-1)).toBe("error");
  });

  test("throws for an empty stream or invalid events", () => {
    expect(() => read("[DONE]")).toThrow(Failure);
    expect(() => read("{broken")).toThrow(Failure);
    expect(() => read("[]")).toThrow(Failure);
  });

  test("limits the buffered bytes", () => {
    const piece = "x".repeat(bounds.heldArgumentsCharactersMax / 4);
    const flood = Array.from({ length: 5 }, () => callDelta({ index: 1, function: { arguments: piece } }));
    expect(() => read(callDelta({ index: 0, id: "a", function: { name: "one" } }), ...flood)).toThrow(Failure);
    const many = Array.from({ length: bounds.answerCallsMax + 1 }, (_, index) => callDelta({ index, id: `c${index}` }));
    expect(() => read(...many)).toThrow(Failure);
  });
});

function write(events: readonly AnswerEvent[], change: Partial<AnswerContext> = {}): string {
  const writer = new ChatEventWriter({
    turn: { tools: [] as Turn["tools"] } as Turn,
    model: "public",
    account: "acc",
    createdAt: 1_700_000_000,
    wantsUsage: false,
    newId: (prefix) => `${prefix}new`,
    warn: () => {},
    ...change,
  });
  return events.map((event) => writer.write(event)).join("");
}

const chunksOf = (text: string): Record<string, unknown>[] =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)) as Record<string, unknown>);

const block = (head: Extract<AnswerEvent, { kind: "block-start" }>["block"], ...texts: string[]): AnswerEvent[] => [
  { kind: "block-start", block: head },
  ...texts.map((text) => ({ kind: "block-delta" as const, text })),
  { kind: "block-end" },
];
const start: AnswerEvent = { kind: "start", id: "id-1", model: "up" };
const finish = (reason: "stop" | "tool-calls" | "error"): AnswerEvent => ({
  kind: "finish",
  finish: { reason, stopSequence: null },
});
const usageEvent: AnswerEvent = { kind: "usage", usage: { ...noUsage, inputUncached: 5, output: 2 } };
const end: AnswerEvent = { kind: "end" };
const parallel: readonly AnswerEvent[] = [
  start,
  ...block({ kind: "reasoning", redacted: false }, "hm"),
  ...block({ kind: "text" }, "Hel", "lo"),
  ...block({ kind: "tool-call", id: "a", name: "one" }, '{"x":', "1}"),
  ...block({ kind: "tool-call", id: "b", name: "two" }, "{}"),
  finish("tool-calls"),
  usageEvent,
  end,
];

describe("writing a chat stream", () => {
  test("writes chunks in the vendor's format", () => {
    const text = write([start, ...block({ kind: "text" }, "Hi"), finish("stop"), end]);
    const shared = { id: "id-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "up" };
    const choice = (delta: object, reason: string | null = null): object => ({
      ...shared,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    });
    expect(chunksOf(text)).toEqual([
      choice({ role: "assistant", content: "", refusal: null }),
      choice({ content: "Hi" }),
      choice({}, "stop"),
    ] as Record<string, unknown>[]);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("writes usage in a last chunk only if it was requested", () => {
    const asked = chunksOf(write(parallel, { wantsUsage: true }));
    expect(asked.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    });
    expect(asked.slice(0, -1).every((each) => each["usage"] === null)).toBe(true);
    expect(chunksOf(write(parallel)).some((each) => "usage" in each)).toBe(false);
  });

  test("is accepted by the official SDK", async () => {
    const lines = chunksOf(write(parallel, { wantsUsage: true })).map((each) => `${JSON.stringify(each)}\n`);
    const stream = ChatCompletionStream.fromReadableStream(new Blob(lines).stream());
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "Hello",
        tool_calls: [
          { id: "a", type: "function", function: { name: "one", arguments: '{"x":1}' } },
          { id: "b", type: "function", function: { name: "two", arguments: "{}" } },
        ],
      },
    });
    expect(completion.usage?.total_tokens).toBe(7);
  });

  test("writes a custom tool's free text", () => {
    const turn = { tools: [customTool("shell", null)] as Turn["tools"] } as Turn;
    const events = [
      start,
      ...block({ kind: "tool-call", id: "a", name: "shell" }, '{"input":', '"ls"}'),
      finish("tool-calls"),
      end,
    ];
    const deltas = chunksOf(write(events, { turn })).flatMap(
      (each) => JSON.stringify(each["choices"]).match(/"custom":\{[^}]*\}/g) ?? [],
    );
    expect(deltas).toEqual(['"custom":{"name":"shell","input":""}', '"custom":{"input":"ls"}']);
  });

  test("ends with an error and without [DONE] if the upstream broke off", () => {
    for (const last of [finish("error"), { kind: "error" as const, failure: new Failure("upstream_error", "broke") }]) {
      const text = write([start, ...block({ kind: "text" }, "half"), last, end]);
      expect(chunksOf(text).at(-1)).toHaveProperty("error");
      expect(text).not.toContain("[DONE]");
    }
  });
});
