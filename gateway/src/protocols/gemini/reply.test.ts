import { describe, expect, test } from "bun:test";
import { readGeminiReply } from "./reply.ts";
import { GeminiStreamTap } from "./stream.ts";

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

describe("reading a generateContent reply", () => {
  test("reads usage and id", () => {
    const facts = readGeminiReply(
      bytes({
        candidates: [{ content: { parts: [{ text: "x".repeat(400) }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
        responseId: "r-1",
      }),
    );
    expect(facts.usage?.usage).toMatchObject({ inputUncached: 4, output: 3, reasoning: 1 });
    expect([facts.errorMessage, facts.id]).toEqual([null, "r-1"]);
    expect(facts.outputEstimate).toBeGreaterThan(99);
  });

  test("does not count base64 as text when output is estimated", () => {
    const data = "A".repeat(400_000);
    const candidates = [{ content: { parts: [{ inlineData: { mimeType: "image/png", data } }] } }];
    expect(readGeminiReply(bytes({ candidates })).outputEstimate).toBeLessThan(2_000);
  });

  test("accepts a blocked prompt", () => {
    const facts = readGeminiReply(bytes({ promptFeedback: { blockReason: "SAFETY" } }));
    expect([facts.errorMessage, facts.usage, facts.outputEstimate]).toEqual([null, null, 0]);
  });

  test("reads an error with status 200, also in an array", () => {
    const error = { code: 500, message: "broken", status: "INTERNAL" };
    expect(readGeminiReply(bytes({ error })).errorMessage).toBe("broken");
    expect(readGeminiReply(bytes([{ error }])).errorMessage).toBe("broken");
  });

  test.each([[""], ["<html>"], ["{}"], ["[]"], ['{"candidates":['], ['{"usageMetadata":{broken}}']])(
    "rejects %j",
    (body) => {
      expect(() => readGeminiReply(bytes(body))).toThrow("not a generateContent answer");
    },
  );
});

test.each([
  ["gemini-3-pro-preview", ["a", "b", "a", "", " "], 2],
  ["gemini-3-pro-preview", [], 0],
  ["models/gemini-2.5-flash", ["a", "b", "c"], 1],
  ["gemini-2.0-flash-001", [""], 0],
  ["another", ["a", "b"], 2],
])("counts searches of %s for the queries %j", (modelVersion, webSearchQueries, searches) => {
  const answer = { candidates: [{ groundingMetadata: { webSearchQueries } }], usageMetadata: { promptTokenCount: 1 } };
  const facts = readGeminiReply(bytes({ ...answer, modelVersion }));
  expect(facts.usage?.usage.webSearches).toBe(searches);
  const tap = new GeminiStreamTap();
  const event = bytes(`data: ${JSON.stringify({ ...answer, modelVersion })}\n\n`);
  for (let times = 0; times < 3; times++) tap.push(event);
  expect(tap.usage?.usage.webSearches).toBe(searches);
});
