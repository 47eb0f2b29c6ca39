import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import type { ResponseStreamEvent, Response as SdkResponse } from "openai/resources/responses/responses";
import OpenAIPrevious from "openai-previous";
import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  Failure,
  noUsage,
  type Seal,
  type Turn,
} from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { answerEvents } from "../turn/answer-events.ts";
import { sealText } from "../turn/seal-text.ts";
import { openaiResponsesCodec } from "./index.ts";

const decoder = new TextDecoder();
const seal: Seal = { dialect: "anthropic-messages", account: "a1", data: "sig", itemId: null };
const request = {
  instructions: "Be brief.",
  input: "hi",
  tools: [
    { type: "function", name: "f", description: "d", parameters: { type: "object", properties: {} }, strict: true },
    { type: "custom", name: "apply_patch" },
    { type: "namespace", name: "mcp__x__", description: "X", tools: [{ type: "function", name: "g" }] },
  ],
  reasoning: { effort: "low", summary: "auto" },
  metadata: { a: "b" },
  max_output_tokens: 100,
};

function context(): AnswerContext {
  let count = 0;
  const body = new TextEncoder().encode(JSON.stringify({ model: "m", ...request }));
  const turn: Turn = openaiResponsesCodec.readTurn(body, { model: "m", stream: true }, () => {});
  return {
    turn,
    model: "public",
    account: "a1",
    createdAt: 1_700_000_000,
    wantsUsage: true,
    newId: (prefix) => `${prefix}${++count}`,
    warn: () => {},
  };
}

const answer = (blocks: readonly AnswerBlock[], reason: Answer["finish"]["reason"] = "stop"): Answer => ({
  id: "msg_up",
  model: "claude",
  blocks,
  finish: { reason, stopSequence: null },
  usage: { ...noUsage, inputUncached: 10, cacheRead: 5, cacheWrite5m: 3, cacheWrite1h: 2, output: 7, reasoning: 4 },
});
const rich = answer([
  { kind: "reasoning", text: "thinking", seal, redacted: false },
  { kind: "text", text: "Grüße \u{1F600}" },
  { kind: "refusal", text: "but no" },
  { kind: "tool-call", id: "call_1", name: "f", argumentsText: '{"a":1}', seal: { ...seal, dialect: "gemini" } },
  { kind: "tool-call", id: "call_2", name: "apply_patch", argumentsText: '{"input":"*** Begin"}', seal: null },
  { kind: "tool-call", id: "call_3", name: "mcp__x__g", argumentsText: "{}", seal: null },
  { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
  { kind: "text", text: "end" },
]);

const stream = (events: Iterable<AnswerEvent>): string => {
  const writer = openaiResponsesCodec.writeEvents(context());
  return [...events].map((event) => writer.write(event)).join("");
};
const parse = (text: string): ResponseStreamEvent[] =>
  text
    .split("\n\n")
    .filter((lines) => lines !== "")
    .map((lines) => {
      const [name = "", data = ""] = lines.split("\n");
      const event = JSON.parse(data.slice("data: ".length)) as ResponseStreamEvent;
      expect(name).toBe(`event: ${event.type}`);
      return event;
    });
const whole = (of: Answer): SdkResponse =>
  JSON.parse(decoder.decode(openaiResponsesCodec.writeAnswer(of, context()))) as SdkResponse;

/** The stream as the vendor's own client sees it. */
function clientOf(text: string): OpenAI {
  const answered = async (): Promise<globalThis.Response> =>
    new globalThis.Response(text, { headers: { "content-type": "text/event-stream" } });
  return new OpenAI({ apiKey: "k", maxRetries: 0, fetch: answered as unknown as typeof fetch });
}

function finalOf(text: string): Promise<SdkResponse> {
  return clientOf(text).responses.stream({ model: "m", input: "hi" }).finalResponse();
}

describe("writing a Responses stream", () => {
  test("writes numbered events in the order that SDKs rely on", () => {
    const events = parse(stream(answerEvents(answer([{ kind: "text", text: "hi" }]))));
    expect(events.map((event) => event.type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map((event) => (event as { sequence_number: number }).sequence_number)).toEqual([...events.keys()]);
  });

  test("closes reasoning, calls and custom calls before the next item", () => {
    const types = parse(stream(answerEvents(rich))).map((event) => event.type.replace("response.", ""));
    const counts = (type: string): number => types.filter((each) => each === type).length;
    expect(types.slice(2, 9)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
    ]);
    expect(counts("function_call_arguments.done")).toBe(2);
    expect(counts("custom_tool_call_input.done")).toBe(1);
    expect(counts("refusal.done")).toBe(1);
    let open = 0;
    for (const type of types) {
      if (type === "output_item.added") expect(++open).toBe(1);
      if (type === "output_item.done") open--;
    }
    expect(open).toBe(0);
  });

  test("uses the same item id in all events and repeats the deltas in done", () => {
    const texts = new Map<string, string>();
    const ids = new Map<number, string>();
    for (const event of parse(stream(answerEvents(rich)))) {
      if (event.type === "response.output_item.added") ids.set(event.output_index, event.item.id ?? "");
      if ("item_id" in event && "output_index" in event) expect(event.item_id).toBe(ids.get(event.output_index) ?? "?");
      if (event.type === "response.output_item.done") expect(event.item.id).toBe(ids.get(event.output_index) ?? "?");
      if ("delta" in event && "item_id" in event && typeof event.delta === "string") {
        const key = `${event.type.replace(".delta", "")} ${event.item_id}`;
        texts.set(key, (texts.get(key) ?? "") + event.delta);
      }
      if (event.type === "response.output_text.done") {
        expect(event.text).toBe(texts.get(`response.output_text ${event.item_id}`) ?? "?");
      }
      if (event.type === "response.function_call_arguments.done") {
        expect(event.arguments).toBe(texts.get(`response.function_call_arguments ${event.item_id}`) ?? "?");
      }
    }
    expect(texts.size).toBe(7);
  });

  test("ends with the same response as a whole answer, for any chunking", () => {
    fc.assert(
      fc.property(answers(), fc.integer({ min: 1, max: 5 }), (of, size) => {
        const events = parse(stream(inPieces(of, size)));
        const last = events.at(-1);
        if (last === undefined || !("response" in last)) throw new Error("no terminal event");
        expect(last.response).toEqual(whole(of));
        const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
        expect(done).toEqual(last.response.output);
      }),
      { numRuns: 200 },
    );
  });

  test("can be read by the OpenAI SDK", async () => {
    for (const of of [rich, answer([{ kind: "text", text: "cut" }], "length"), answer([], "content-filter")]) {
      const { output_text, output_parsed, ...seen } = (await finalOf(stream(inPieces(of, 2)))) as SdkResponse & {
        output_parsed: unknown;
      };
      expect(withoutParsed(seen)).toEqual(whole(of) as never);
      expect(output_text).toBe(of.blocks.map((block) => (block.kind === "text" ? block.text : "")).join(""));
    }
  });

  test("can be read by the previous OpenAI SDK", async () => {
    const text = stream(inPieces(rich, 2));
    const answered = async (): Promise<globalThis.Response> =>
      new globalThis.Response(text, { headers: { "content-type": "text/event-stream" } });
    const client = new OpenAIPrevious({ apiKey: "k", maxRetries: 0, fetch: answered as unknown as typeof fetch });
    const seen = await client.responses.stream({ model: "m", input: "hi" }).finalResponse();
    expect(seen.output.map((item) => item.type)).toEqual(whole(rich).output.map((item) => item.type) as never);
  });
});

describe("the response object", () => {
  test("repeats the request, sets `store` to false, and adds up usage", () => {
    expect(whole(rich)).toMatchObject({
      object: "response",
      status: "completed",
      model: "claude",
      created_at: 1_700_000_000,
      instructions: "Be brief.",
      max_output_tokens: 100,
      metadata: { a: "b" },
      store: false,
      previous_response_id: null,
      error: null,
      incomplete_details: null,
      reasoning: { effort: "low", summary: "auto" },
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 5, cache_write_tokens: 5 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 27,
      },
    } as never);
    expect(whole(rich).id).toStartWith("resp_");
    expect(whole(rich).tools.map((tool) => tool.type)).toEqual(["function", "custom", "namespace"]);
  });

  test("keeps call ids and restores the called tools", () => {
    const { output } = whole(rich);
    expect(output.filter((item) => item.type !== "message")).toMatchObject([
      { type: "reasoning", encrypted_content: sealText(seal) },
      { type: "function_call", call_id: "call_1", name: "f", arguments: '{"a":1}', status: "completed" },
      { type: "reasoning", summary: [], encrypted_content: `${sealText({ ...seal, dialect: "gemini" })}.call` },
      { type: "custom_tool_call", call_id: "call_2", name: "apply_patch", input: "*** Begin" },
      { type: "function_call", call_id: "call_3", name: "g", namespace: "mcp__x__", arguments: "{}" },
      { type: "image_generation_call", result: "AAAA", output_format: "png" },
    ]);
  });

  test.each([
    ["stop", "completed", null],
    ["tool-calls", "completed", null],
    ["length", "incomplete", "max_output_tokens"],
    ["context-length", "incomplete", "max_output_tokens"],
    ["content-filter", "incomplete", "content_filter"],
    ["refusal", "incomplete", "content_filter"],
  ] as const)("writes the finish %s as %s", (reason, status, because) => {
    const response = whole(answer([{ kind: "text", text: "x" }], reason));
    expect(response.status).toBe(status);
    expect(response.incomplete_details?.reason ?? null).toBe(because);
    expect(response.output[0]).toMatchObject({ status });
  });

  test("completes a refusal with a refusal part", () => {
    const response = whole(answer([{ kind: "refusal", text: "no" }], "refusal"));
    expect([response.status, response.output[0]]).toMatchObject([
      "completed",
      { content: [{ type: "refusal", refusal: "no" }] },
    ]);
  });

  test("restores sealed reasoning when it is sent back", () => {
    const input = whole(rich).output.filter((item) => item.type !== "image_generation_call");
    const body = new TextEncoder().encode(JSON.stringify({ model: "m", input }));
    const turn = openaiResponsesCodec.readTurn(body, { model: "m", stream: false }, () => {});
    expect(turn.messages[0]?.parts.map((part) => ("seal" in part ? part.seal : null))).toEqual([
      seal,
      null,
      null,
      { ...seal, dialect: "gemini" },
      null,
      null,
      null,
    ]);
  });
});

describe("a failing stream", () => {
  const failing: AnswerEvent[] = [
    { kind: "start", id: null, model: null },
    { kind: "block-start", block: { kind: "tool-call", id: "c", name: "f" } },
    { kind: "block-delta", text: '{"a' },
    { kind: "error", failure: new Failure("rate_limit_exceeded", "slow down") },
    { kind: "end" },
  ];

  test("reports the failure to all clients and completes nothing", () => {
    const events = parse(stream(failing));
    expect(events.slice(-2)).toMatchObject([
      { type: "error", code: "rate_limit_exceeded", message: "slow down" },
      {
        type: "response.failed",
        response: {
          status: "failed",
          error: { code: "rate_limit_exceeded", message: "slow down" },
          output: [{ type: "function_call", status: "incomplete", arguments: '{"a' }],
        },
      },
    ]);
    expect(events.map((event) => (event as { sequence_number: number }).sequence_number)).toEqual([...events.keys()]);
    expect(events.some((event) => event.type === "response.output_item.done")).toBe(false);
  });

  test("makes the OpenAI SDK throw", async () => {
    await expect(finalOf(stream(failing))).rejects.toThrow("slow down");
    const create = clientOf(stream(failing)).responses.create({ model: "m", input: "x", stream: true });
    await expect(Array.fromAsync(await create)).rejects.toThrow("slow down");
  });

  test("ends with a failed response if the upstream broke off", () => {
    expect(whole(answer([{ kind: "text", text: "x" }], "error"))).toMatchObject({
      status: "failed",
      output: [{ type: "message" }],
    });
  });
});

/** The SDK adds what it parsed. */
function withoutParsed(response: object): unknown {
  return JSON.parse(
    JSON.stringify(response, (key, value) => (key.startsWith("parsed") ? undefined : (value as unknown))),
  );
}

function* inPieces(of: Answer, size: number): Generator<AnswerEvent> {
  for (const event of answerEvents(of)) {
    if (event.kind !== "block-delta") yield event;
    else
      for (let at = 0; at < event.text.length; at += size)
        yield { kind: "block-delta", text: event.text.slice(at, at + size) };
  }
}

function answers(): fc.Arbitrary<Answer> {
  const text = fc.string({ minLength: 1, maxLength: 12 });
  const sealed = fc.option(fc.constant(seal));
  const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
    text.map((value) => ({ kind: "text" as const, text: value })),
    text.map((value) => ({ kind: "refusal" as const, text: value })),
    fc
      .tuple(fc.string(), sealed)
      .map(([value, by]) => ({ kind: "reasoning" as const, text: value, seal: by, redacted: value === "" })),
    fc
      .tuple(fc.constantFrom("f", "apply_patch", "mcp__x__g", "unknown"), fc.jsonValue(), fc.uuid(), sealed)
      .map(([name, value, id, by]) => ({
        kind: "tool-call" as const,
        id,
        name,
        argumentsText: JSON.stringify({ input: value }),
        seal: by,
      })),
    fc.constant({
      kind: "image" as const,
      source: { kind: "url" as const, url: "https://a.b/c.png", mediaType: null },
    }),
  );
  const reason = fc.constantFrom("stop", "length", "refusal", "tool-calls", "content-filter", "pause");
  return fc.tuple(fc.array(block, { maxLength: 6 }), reason).map(([blocks, why]) => answer(blocks, why));
}
