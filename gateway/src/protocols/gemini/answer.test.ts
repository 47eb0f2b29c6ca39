import { describe, expect, test } from "bun:test";
import { type Answer, type AnswerEvent, Failure } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { GeminiEventReader, readGeminiAnswer } from "./read-events.ts";

const encoder = new TextEncoder();

function source(): AnswerSource {
  let ids = 0;
  return { account: "acc", newId: (prefix) => `${prefix}${ids++}`, warn: () => {} };
}

function whole(response: unknown): Answer {
  return readGeminiAnswer(encoder.encode(JSON.stringify(response)), source());
}

function streamed(...responses: readonly unknown[]): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  const reader = new GeminiEventReader((event) => events.push(event), source());
  for (const response of responses) reader.read(JSON.stringify(response));
  reader.end();
  return events;
}

const candidate = (parts: readonly object[], finishReason?: string): object => ({
  candidates: [
    { content: { role: "model", parts }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
});
const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 };
const sealed = (data: string): object => ({ dialect: "gemini", account: "acc", data, itemId: null });

describe("reading a whole Gemini answer", () => {
  test("reads thoughts, text, calls, pictures and usage", () => {
    const answer = whole({
      ...candidate(
        [
          { text: "hm", thought: true },
          { text: "Here." },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          { functionCall: { name: "f", args: { a: 1 } }, thoughtSignature: "S1" },
          { functionCall: { id: "own", name: "g" } },
        ],
        "STOP",
      ),
      usageMetadata,
      modelVersion: "gemini-x",
      responseId: "r1",
    });
    expect(answer as unknown).toEqual({
      id: "r1",
      model: "gemini-x",
      blocks: [
        { kind: "reasoning", text: "hm", seal: null, redacted: false },
        { kind: "text", text: "Here." },
        { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
        { kind: "tool-call", id: "call_0", name: "f", argumentsText: '{"a":1}', seal: sealed("S1") },
        { kind: "tool-call", id: "own", name: "g", argumentsText: "{}", seal: null },
      ],
      finish: { reason: "tool-calls", stopSequence: null },
      usage: expect.objectContaining({ inputUncached: 5, output: 2 }),
    });
  });

  test.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content-filter"],
    ["RECITATION", "content-filter"],
    ["PROHIBITED_CONTENT", "content-filter"],
    ["IMAGE_SAFETY", "content-filter"],
    ["MALFORMED_FUNCTION_CALL", "error"],
    ["OTHER", "error"],
    ["SOMETHING_NEW", "error"],
  ])("reads the finish reason %s as %s", (reason, expected) => {
    expect(whole(candidate([{ text: "x" }], reason)).finish.reason).toBe(expected as never);
  });

  test("reads a blocked prompt as an empty, filtered answer", () => {
    const answer = whole({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata });
    expect([answer.blocks, answer.finish.reason, answer.usage?.inputUncached]).toEqual([[], "content-filter", 5]);
  });

  test("keeps a separate signature after the text that it belongs to", () => {
    const behind = { kind: "reasoning", text: "", seal: sealed("S"), redacted: false };
    const textPart = { kind: "text", text: "Yes." };
    expect(whole(candidate([{ text: "Yes.", thoughtSignature: "S" }], "STOP")).blocks as unknown).toEqual([
      textPart,
      behind,
    ]);
    expect(whole(candidate([{ text: "Yes." }, { text: "", thoughtSignature: "S" }], "STOP")).blocks as unknown).toEqual(
      [textPart, behind],
    );
    expect(
      whole(
        candidate([
          { text: "hm", thought: true },
          { text: "", thoughtSignature: "S" },
        ]),
      ).blocks as unknown,
    ).toEqual([{ ...behind, text: "hm" }]);
    const called = whole(candidate([{ functionCall: { id: "c", name: "f" } }, { text: "", thoughtSignature: "S" }]));
    expect(called.blocks as unknown).toEqual([
      { kind: "tool-call", id: "c", name: "f", argumentsText: "{}", seal: sealed("S") },
    ]);
  });

  test("writes code that Google ran as text", () => {
    const answer = whole(
      candidate([
        { executableCode: { language: "PYTHON", code: "print(1)" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
      ]),
    );
    expect(answer.blocks).toEqual([{ kind: "text", text: "\n```python\nprint(1)\n```\n\n```\n1\n```\n" }]);
  });

  test.each([
    ["{"],
    ["[]"],
    ['"text"'],
    ["{}"],
    ['{"candidates":[]}'],
    ['{"error":{"code":500,"message":"broken"}}'],
    ['[{"error":{"code":500,"message":"broken"}}]'],
    ['{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}'],
    ['{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}]}}]}'],
  ])("rejects %s", (body) => {
    try {
      readGeminiAnswer(encoder.encode(body), source());
    } catch (thrown) {
      expect(thrown instanceof Failure && [thrown.code, thrown.retry]).toEqual(["upstream_error", "other"]);
      return;
    }
    throw new Error("was accepted");
  });
});

describe("reading a Gemini stream", () => {
  test("emits blocks in order, usage at start and end, and the finish last", () => {
    const events = streamed(
      { ...candidate([{ text: "a" }]), usageMetadata: { promptTokenCount: 5 }, modelVersion: "m", responseId: "r" },
      { ...candidate([{ text: "b" }]), usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } },
      candidate([{ functionCall: { id: "c", name: "f", args: {} } }]),
      { ...candidate([{ text: "" }], "STOP"), usageMetadata },
    );
    expect(events as unknown).toEqual([
      { kind: "start", id: "r", model: "m" },
      { kind: "usage", usage: expect.objectContaining({ inputUncached: 5, output: 0 }) },
      { kind: "block-start", block: { kind: "text" } },
      { kind: "block-delta", text: "a" },
      { kind: "block-delta", text: "b" },
      { kind: "block-end" },
      { kind: "block-start", block: { kind: "tool-call", id: "c", name: "f" } },
      { kind: "block-delta", text: "{}" },
      { kind: "block-end" },
      { kind: "usage", usage: expect.objectContaining({ inputUncached: 5, output: 2 }) },
      { kind: "finish", finish: { reason: "tool-calls", stopSequence: null } },
      { kind: "end" },
    ]);
  });

  test("does not split a text at a signature", () => {
    const events = streamed(candidate([{ text: "a", thoughtSignature: "S" }]), candidate([{ text: "b" }], "STOP"));
    expect(events.filter((event) => event.kind === "block-start").map((event) => event.block.kind)).toEqual([
      "text",
      "reasoning",
    ]);
  });

  test("emits nothing after an error", () => {
    const events = streamed(
      candidate([{ text: "a" }]),
      { error: { code: 503, message: "overloaded" } },
      candidate([], "STOP"),
    );
    expect(events.map((event) => event.kind)).toEqual(["start", "block-start", "block-delta", "error"]);
  });

  test("rejects data that is not JSON", () => {
    const reader = new GeminiEventReader(() => undefined, source());
    expect(() => reader.read("{broken")).toThrow(Failure);
  });
});
