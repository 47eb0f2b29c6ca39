import { describe, expect, test } from "bun:test";
import type Anthropic from "@anthropic-ai/sdk";
import type PreviousAnthropic from "anthropic-sdk-previous";
import fc from "fast-check";
import {
  type Answer,
  type AnswerBlock,
  Failure,
  type FinishReason,
  noUsage,
  type Seal,
  type Turn,
} from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { emptySeal, readSealText, sealText } from "../turn/seal-text.ts";
import { anthropicMessagesCodec as codec } from "./index.ts";
import type { AnswerMessage } from "./write-answer.ts";

/** The vendor's types ask for arrays and members that may be written. */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Writable<T[Name]> }
    : T;

/** The SDKs' type of a text block, with `citations` optional, because the API omits it if there are none. */
type Declared<Block> = Block extends { type: "text" } ? Block & { citations: null } : Block;
type DeclaredMessage = Omit<Writable<AnswerMessage>, "content"> & {
  content: Declared<Writable<AnswerMessage>["content"][number]>[];
};

/** These compile only if our answers match the SDKs' types, except for that. */
const asMessage = (message: DeclaredMessage): Anthropic.Message => message;
const asPreviousMessage = (message: DeclaredMessage): PreviousAnthropic.Message => message;

const source = { account: "acme", newId: (prefix: string) => `${prefix}made`, warn: () => {} };
const thinkingTurn = { reasoning: { effort: "high", budgetTokens: null, visible: true } } as Turn;

function context(turn: Partial<Turn> = thinkingTurn): AnswerContext & { readonly warnings: string[] } {
  const warnings: string[] = [];
  return {
    ...{ turn: turn as Turn, model: "public", account: "acme", createdAt: 0, wantsUsage: true, warnings },
    ...{ newId: source.newId, warn: (what: string) => void warnings.push(what) },
  };
}

const answer: Answer = {
  ...{ id: "msg_1", model: "claude", blocks: [], finish: { reason: "stop", stopSequence: null }, usage: null },
};

function write(more: Partial<Answer>, inside = context()): Anthropic.Message {
  const bytes = codec.writeAnswer({ ...answer, ...more }, inside);
  const message: DeclaredMessage = JSON.parse(new TextDecoder().decode(bytes));
  asPreviousMessage(message);
  return asMessage(message);
}

const read = (message: object): Answer => codec.readAnswer(new TextEncoder().encode(JSON.stringify(message)), source);

const seal = (dialect: Seal["dialect"], data: string): Seal => ({ dialect, account: "acme", data, itemId: null });

describe("reading a message", () => {
  const cited = { span: null, quote: "x", source: { kind: "file" as const, fileId: null, name: null, index: null } };

  test("reads text with citations, reasoning and calls, and drops server tools", () => {
    const { blocks } = read({
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "redacted_thinking", data: "hidden" },
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
        { type: "text", text: "Found", citations: [{ type: "char_location", cited_text: "x" }] },
        { type: "tool_use", id: "toolu_1", name: "look", input: { a: 1 } },
      ],
    });
    expect(blocks).toEqual([
      { kind: "reasoning", text: "hm", seal: seal("anthropic-messages", "sig"), redacted: false },
      { kind: "reasoning", text: "", seal: seal("anthropic-messages", "hidden"), redacted: true },
      { kind: "text", text: "Found", citations: [cited] },
      { kind: "tool-call", id: "toolu_1", name: "look", argumentsText: '{"a":1}', seal: null },
    ]);
  });

  test.each([
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["stop_sequence", "stop-sequence"],
    ["tool_use", "tool-calls"],
    ["pause_turn", "pause"],
    ["refusal", "refusal"],
    ["model_context_window_exceeded", "context-length"],
    ["something_new", "stop"],
    [null, "stop"],
  ])("reads the stop reason %s as %s", (reason, finish) => {
    expect(read({ content: [], stop_reason: reason, stop_sequence: "END" }).finish).toEqual({
      reason: finish as FinishReason,
      stopSequence: "END",
    });
  });

  test.each([[{ type: "error", error: { type: "api_error", message: "no" } }], [{}], [[]]])("rejects %j", (body) => {
    expect(() => read(body)).toThrow(Failure);
  });
});

describe("writing a message", () => {
  test("writes every member of the vendor's types, except citations if there are none", () => {
    const message: unknown = write({
      blocks: [{ kind: "text", text: "Hi" }],
      usage: { ...noUsage, inputUncached: 5, cacheRead: 3, cacheWrite5m: 2, cacheWrite1h: 1, output: 7, reasoning: 4 },
    });
    expect(message).toEqual({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "claude", container: null, diagnostics: null },
      content: [{ type: "text", text: "Hi" }],
      ...{ stop_reason: "end_turn", stop_sequence: null, stop_details: null },
      usage: {
        ...{ input_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 3, output_tokens: 7 },
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
        output_tokens_details: { thinking_tokens: 4 },
        ...{ server_tool_use: null, service_tier: null, inference_geo: null, speed: null },
      },
    });
  });

  test("replaces another vendor's message id and fills in the model", () => {
    expect(write({ id: "chatcmpl-1", model: null })).toMatchObject({ id: "msg_made", model: "public" });
  });

  test.each([
    ["stop", "end_turn"],
    ["stop-sequence", "stop_sequence"],
    ["length", "max_tokens"],
    ["context-length", "model_context_window_exceeded"],
    ["tool-calls", "tool_use"],
    ["content-filter", "refusal"],
    ["refusal", "refusal"],
    ["pause", "pause_turn"],
  ] as const)("writes the finish reason %s as %s", (reason, stop) => {
    expect(write({ finish: { reason, stopSequence: "END" } })).toMatchObject({
      stop_reason: reason === "stop" ? "stop_sequence" : stop,
      stop_sequence: stop === "stop_sequence" || reason === "stop" ? "END" : null,
    });
    expect(write({ finish: { reason, stopSequence: null } }).stop_reason).toBe(stop);
  });

  test("stops for tool calls even if the upstream reported another reason", () => {
    const blocks: AnswerBlock[] = [{ kind: "tool-call", id: "a", name: "look", argumentsText: "{}", seal: null }];
    expect(write({ blocks })).toMatchObject({ stop_reason: "tool_use", content: [{ type: "tool_use", input: {} }] });
  });

  test("writes a refusal as text with its stop reason", () => {
    expect(write({ blocks: [{ kind: "refusal", text: "I will not." }] })).toMatchObject({
      content: [{ type: "text", text: "I will not." }],
      stop_reason: "refusal",
      stop_details: { type: "refusal" },
    });
  });

  test("throws for an answer that ended in an error", () => {
    expect(() => write({ finish: { reason: "error", stopSequence: null } })).toThrow(Failure);
  });

  test("replaces a picture with text, with a warning", () => {
    const inside = context();
    const picture = { kind: "base64" as const, mediaType: "image/png", data: "" };
    expect(write({ blocks: [{ kind: "image", source: picture }] }, inside).content).toMatchObject([{ type: "text" }]);
    expect(inside.warnings).toHaveLength(1);
  });

  test("wraps arguments that are not a JSON object, with a warning", () => {
    const inside = context();
    const block: AnswerBlock = { kind: "tool-call", id: "a", name: "look", argumentsText: "[1]", seal: null };
    expect(write({ blocks: [block] }, inside).content).toMatchObject([{ input: { _raw: "[1]" } }]);
    expect(inside.warnings).toHaveLength(1);
  });
});

describe("thinking in an answer", () => {
  const blocks: AnswerBlock[] = [
    { kind: "reasoning", text: "hm", seal: seal("openai-responses", "enc"), redacted: false },
    { kind: "reasoning", text: "", seal: seal("anthropic-messages", "sig"), redacted: true },
    { kind: "text", text: "Hi" },
  ];

  test("encodes another vendor's seal in the signature", () => {
    const [first, second] = write({ blocks }).content;
    if (first?.type !== "thinking") throw new Error("no thought");
    expect(first.thinking).toBe("hm");
    expect(readSealText(first.signature)).toEqual(seal("openai-responses", "enc"));
    expect(second).toEqual({ type: "redacted_thinking", data: "sig" });
  });

  test("keeps the seal but hides the text for callers that did not request thinking", () => {
    const hidden = context({ reasoning: { effort: "low", budgetTokens: null, visible: false } });
    expect(write({ blocks }, hidden).content[0]).toMatchObject({ type: "thinking", thinking: "" });
  });

  test.each([[null], [{ effort: "none" as const, budgetTokens: null, visible: false }]])(
    "drops thinking if the request set reasoning to %j",
    (reasoning) => {
      expect(write({ blocks }, context({ reasoning })).content).toMatchObject([{ type: "text" }]);
    },
  );
});

describe("an answer that is sent back", () => {
  test("restores call ids and seals with any characters", () => {
    const sealed = seal("gemini", "signed");
    const ids = fc.string({ minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(ids, fc.boolean(), (id, withSeal) => {
        const call: AnswerBlock = {
          ...{ kind: "tool-call", id, name: "look", argumentsText: '{"a":1}', seal: withSeal ? sealed : null },
        };
        const { content } = write({ blocks: [call] });
        const used = content.find((block) => block.type === "tool_use");
        expect(used?.id).toMatch(/^[a-zA-Z0-9_-]+$/);
        const result = { type: "tool_result", tool_use_id: used?.id, content: "found" };
        const messages = [
          { role: "user", content: "Hi" },
          { role: "assistant", content },
          { role: "user", content: [result] },
        ];
        const body = new TextEncoder().encode(JSON.stringify({ max_tokens: 1, messages }));
        const turn = codec.readTurn(body, { model: "m", stream: false }, () => {});
        expect(turn.messages[1]?.parts).toEqual([{ ...call, cache: null }]);
        expect(turn.messages[2]?.parts).toMatchObject([{ callId: id, name: "look" }]);
      }),
    );
  });

  test("reads a written answer back unchanged", () => {
    const word = fc.string({ minLength: 1 });
    const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
      word.map((text) => ({ kind: "text" as const, text })),
      fc.tuple(word, fc.option(word)).map(([text, data]) => ({
        ...{ kind: "reasoning" as const, text, redacted: false },
        seal: data === null ? null : seal("anthropic-messages", data),
      })),
      fc.tuple(fc.stringMatching(/^toolu_\w{1,9}$/), fc.dictionary(word, fc.jsonValue())).map(([id, input]) => ({
        ...{ kind: "tool-call" as const, id, name: "look", argumentsText: JSON.stringify(input), seal: null },
      })),
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), fc.nat(), fc.nat(), (blocks, inputUncached, output) => {
        const called = blocks.some((one) => one.kind === "tool-call");
        const reason: FinishReason = called ? "tool-calls" : "stop";
        const usage = { ...noUsage, inputUncached, output };
        const whole = { ...answer, blocks, usage, finish: { reason, stopSequence: null } };
        const expected = blocks.map((one) =>
          one.kind === "reasoning" && one.seal === null
            ? { ...one, seal: seal("anthropic-messages", sealText(emptySeal(context().account))) }
            : one,
        );
        expect(read(write(whole))).toEqual(JSON.parse(JSON.stringify({ ...whole, blocks: expected })));
      }),
    );
  });
});
