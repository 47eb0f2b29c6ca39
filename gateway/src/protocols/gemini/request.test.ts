import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { geminiWire } from "./index.ts";
import { readGeminiRequest } from "./request.ts";

const encoder = new TextEncoder();
const bytes = (value: unknown): Uint8Array => encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const path = { model: "gemini-2.5-flash", stream: true };

function refusal(body: unknown, where: typeof path | null = path): { code: string; param: string | null } {
  try {
    readGeminiRequest(bytes(body), where);
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param };
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("reading a generateContent request", () => {
  test("passes its bytes unchanged", () => {
    const body = bytes({ contents: [{ parts: [{ text: "Hi" }] }] });
    const facts = geminiWire.readRequest(body, { model: "m", stream: false });
    expect(geminiWire.requestEdits(body, facts, "other")).toEqual([]);
  });

  test("reads model and streaming from the path", () => {
    expect(readGeminiRequest(bytes({ contents, model: "other" }), path)).toMatchObject({
      model: "gemini-2.5-flash",
      modelSpan: null,
      stream: true,
      wantsUsage: true,
      outputTokensMax: null,
      affinity: null,
    });
  });

  test.each([
    [{ generationConfig: { maxOutputTokens: 7 } }, 7],
    [{ generationConfig: { maxOutputTokens: 7, candidateCount: 3 } }, 21],
    [{ generation_config: { max_output_tokens: 9, candidate_count: 2 } }, 18],
    [{ generationConfig: { maxOutputTokens: 0 } }, null],
    [{ generationConfig: { maxOutputTokens: "7", candidateCount: "3" } }, 21],
    [{ generationConfig: { maxOutputTokens: null } }, null],
    [{ generationConfig: null }, null],
  ])("reads the output limit in %j as %p tokens", (more, expected) => {
    expect(readGeminiRequest(bytes({ contents, ...more }), path).outputTokensMax).toBe(expected);
  });

  test("uses the cached content as affinity", () => {
    expect(readGeminiRequest(bytes({ contents, cachedContent: "cachedContents/a" }), path).affinity).toBe(
      "cachedContents/a",
    );
  });

  test("estimates input from text, and a photo by its picture tokens instead of its bytes", () => {
    const words = "word ".repeat(400);
    const plain = readGeminiRequest(bytes({ contents: [{ parts: [{ text: words }] }] }), path).inputEstimate;
    expect(plain).toBeGreaterThan(450);
    expect(plain).toBeLessThan(600);
    const data = "A".repeat(1_000_000);
    for (const part of [
      { inlineData: { mimeType: "image/jpeg", data } },
      { inline_data: { data, mime_type: "image/jpeg" } },
    ]) {
      const shown = readGeminiRequest(bytes({ contents: [{ parts: [part, { text: words }] }] }), path).inputEstimate;
      expect(shown - plain).toBeGreaterThan(1_000);
      expect(shown - plain).toBeLessThan(4_000);
    }
  });

  test("counts instructions and tools as input", () => {
    const bare = readGeminiRequest(bytes({ contents }), path).inputEstimate;
    const more = { systemInstruction: { parts: [{ text: "x".repeat(400) }] }, tools: ["y".repeat(400)] };
    expect(readGeminiRequest(bytes({ contents, ...more }), path).inputEstimate).toBeGreaterThan(bare + 190);
  });
});

describe("an invalid generateContent request", () => {
  test.each([
    ["", "invalid_json", null],
    ["[]", "invalid_json", null],
    ['{"contents":[1],"contents":[1]}', "invalid_json", null],
    [{}, "missing_required_parameter", "contents"],
    [{ contents: "hi" }, "invalid_request", "contents"],
    [{ contents: "x" }, "invalid_request", "contents"],
    [
      '{"contents":[1],"generationConfig":{"candidateCount":1,"candidateCount":2}}',
      "invalid_request",
      "generationConfig",
    ],
  ])("rejects %j as %s, naming %s", (body, code, param) => {
    expect(refusal(body)).toEqual({ code, param });
  });

  test("rejects a path without a valid model", () => {
    expect(refusal({ contents }, null)).toEqual({ code: "missing_required_parameter", param: "model" });
    expect(refusal({ contents }, { model: "x".repeat(300), stream: false }).param).toBe("model");
  });
});
