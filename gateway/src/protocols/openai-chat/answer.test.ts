import { describe, expect, test } from "bun:test";
import { type Answer, type AnswerBlock, Failure, noUsage, type Turn } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { customTool } from "./custom-tool.ts";
import { readChatAnswer } from "./read-answer.ts";
import { writeChatAnswer } from "./write-answer.ts";

const source = { account: "acc", newId: (prefix: string): string => `${prefix}new`, warn: () => {} };
const turn = { tools: [] as Turn["tools"] } as Turn;

function write(blocks: readonly AnswerBlock[], change: Partial<Answer> = {}, tools: Turn["tools"] = []) {
  const warnings: string[] = [];
  const context: AnswerContext = {
    turn: { ...turn, tools },
    model: "public",
    account: "acc",
    createdAt: 1_700_000_000,
    wantsUsage: false,
    newId: source.newId,
    warn: (what) => warnings.push(what),
  };
  const answer: Answer = {
    id: null,
    model: null,
    blocks,
    finish: { reason: "stop", stopSequence: null },
    usage: null,
    ...change,
  };
  const completion = JSON.parse(new TextDecoder().decode(writeChatAnswer(answer, context))) as Record<string, unknown>;
  const choice = (completion["choices"] as Record<string, unknown>[])[0] ?? {};
  return { completion, choice, message: choice["message"] as Record<string, unknown>, warnings };
}

function read(message: object, rest: object = {}): Answer {
  const reply = { id: "", choices: [{ index: 0, finish_reason: "stop", message }], ...rest };
  return readChatAnswer(new TextEncoder().encode(JSON.stringify(reply)), source);
}

const call: AnswerBlock = { kind: "tool-call", id: "c1", name: "look", argumentsText: '{"a":1}', seal: null };

describe("writing a chat completion", () => {
  test("has every field of the vendor's type", () => {
    expect(
      write([{ kind: "text", text: "Hi" }], {
        usage: { ...noUsage, inputUncached: 5, cacheRead: 3, output: 4, reasoning: 1 },
      }).completion,
    ).toEqual({
      id: "chatcmpl-new",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "public",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hi", refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 8,
        completion_tokens: 4,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 1,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    });
  });

  test("writes null content only with tool calls", () => {
    expect(write([]).message["content"]).toBe("");
    expect(write([{ kind: "refusal", text: "no" }]).message).toMatchObject({ content: "", refusal: "no" });
    expect(write([call]).message["content"]).toBeNull();
  });

  test.each([
    ["stop-sequence", "stop"],
    ["pause", "stop"],
    ["context-length", "length"],
    ["tool-calls", "tool_calls"],
    ["refusal", "content_filter"],
  ] as const)("writes the finish of %s as %s", (reason, expected) => {
    expect(write([], { finish: { reason, stopSequence: null } }).choice["finish_reason"]).toBe(expected);
  });

  test("throws if the upstream broke off", () => {
    expect(() => write([], { finish: { reason: "error", stopSequence: null } })).toThrow(Failure);
  });

  test("writes Gemini's signatures and drops other seals", () => {
    const sealed = (dialect: "gemini" | "anthropic-messages"): AnswerBlock => ({
      ...call,
      seal: { dialect, account: "acc", data: "sig", itemId: null },
    });
    const { message } = write([sealed("gemini"), sealed("anthropic-messages")]);
    const calls = message["tool_calls"] as Record<string, unknown>[];
    expect(calls.map((each) => each["extra_content"])).toEqual([{ google: { thought_signature: "sig" } }, undefined]);
  });

  test("writes a custom tool's free text", () => {
    const shell: AnswerBlock = { ...call, name: "shell", argumentsText: '{"input":"ls\\n"}' };
    const { message } = write([shell], {}, [customTool("shell", null)]);
    expect(message["tool_calls"]).toEqual([{ id: "c1", type: "custom", custom: { name: "shell", input: "ls\n" } }]);
  });

  test("drops pictures that only the vendor can read, with a warning", () => {
    expect(write([{ kind: "image", source: { kind: "file", id: "f", dialect: "gemini" } }]).warnings).toHaveLength(1);
  });
});

describe("reading a chat completion", () => {
  test("reads reasoning under either name before the text", () => {
    for (const field of ["reasoning_content", "reasoning"]) {
      expect(read({ content: "Hi", [field]: "hm" }).blocks).toMatchObject([
        { kind: "reasoning", text: "hm" },
        { kind: "text", text: "Hi" },
      ]);
    }
  });

  test("reads content sent as parts", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ];
    expect(read({ content }).blocks).toMatchObject([
      { kind: "reasoning", text: "hm" },
      { kind: "text", text: "ab" },
    ]);
  });

  test("reads tool calls with any finish reason, and creates missing ids", () => {
    const answer = read({ content: null, tool_calls: [{ function: { name: "look", arguments: { a: 1 } } }] });
    expect(answer.blocks).toMatchObject([{ id: "call_new", name: "look", argumentsText: '{"a":1}' }]);
    expect(answer.finish.reason).toBe("tool-calls");
    const legacy = read({ content: null, function_call: { name: "look", arguments: "{}" } });
    expect(legacy.blocks).toMatchObject([{ kind: "tool-call", name: "look" }]);
  });

  test("reads a refusal", () => {
    expect(read({ content: null, refusal: "no" })).toMatchObject({
      blocks: [{ kind: "refusal", text: "no" }],
      finish: { reason: "refusal" },
    });
  });

  test("accepts missing names and usage", () => {
    expect(read({ content: "x" })).toMatchObject({ id: null, model: null, usage: null });
  });

  test("throws for an error or an empty answer, so that another deployment is tried", () => {
    for (const reply of ['{"error":{"message":"no"}}', '{"choices":[]}', "<html>", "[]"]) {
      expect(() => readChatAnswer(new TextEncoder().encode(reply), source)).toThrow(Failure);
    }
  });
});

test("reads the first choice's message", () => {
  const read = (choice: object) =>
    readChatAnswer(new TextEncoder().encode(JSON.stringify({ id: "c1", choices: [choice] })), source).blocks;
  const message = { role: "assistant", content: "hello" };
  const text = [{ kind: "text", text: "hello" }];
  expect(read({ index: 0, message, delta: { role: "assistant", content: "" } })).toEqual(text as never);
  expect(read({ index: 0, message, delta: null })).toEqual(text as never);
  expect(read({ index: 1, message })).toEqual(text as never);
});

test("reads any number of complete calls", () => {
  const tool_calls = Array.from({ length: 1_100 }, (_, index) => ({
    id: `c${index}`,
    type: "function",
    function: { name: "f", arguments: "{}" },
  }));
  const body = { id: "c1", choices: [{ index: 0, message: { role: "assistant", tool_calls } }] };
  const { blocks } = readChatAnswer(new TextEncoder().encode(JSON.stringify(body)), source);
  expect(blocks).toHaveLength(1_100);
});
