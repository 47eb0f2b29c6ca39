import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { noUsage, tokensOf } from "#core/index.ts";
import { groundingIn, readGeminiUsage, writeGeminiUsage } from "./usage.ts";

describe("splitting Gemini's usage into token classes", () => {
  test.each([
    ["plain", { promptTokenCount: 10, candidatesTokenCount: 3, totalTokenCount: 13 }, { inputUncached: 10, output: 3 }],
    [
      "cached content is part of the prompt",
      { promptTokenCount: 100, cachedContentTokenCount: 80, candidatesTokenCount: 3 },
      { inputUncached: 20, cacheRead: 80, output: 3 },
    ],
    [
      "thoughts are in addition to the candidates and count as output",
      { promptTokenCount: 10, candidatesTokenCount: 3, thoughtsTokenCount: 40, totalTokenCount: 53 },
      { inputUncached: 10, output: 43, reasoning: 40 },
    ],
    [
      "tool results are in addition to the prompt",
      { promptTokenCount: 10, toolUsePromptTokenCount: 500, candidatesTokenCount: 3 },
      { inputUncached: 510, output: 3 },
    ],
    [
      "audio and images have their own classes, video and documents do not",
      {
        promptTokenCount: 1_000,
        candidatesTokenCount: 1_300,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 10 },
          { modality: "IMAGE", tokenCount: 258 },
          { modality: "AUDIO", tokenCount: 32 },
          { modality: "VIDEO", tokenCount: 600 },
          { modality: "DOCUMENT", tokenCount: 100 },
        ],
        candidatesTokensDetails: [
          { modality: "TEXT", tokenCount: 5 },
          { modality: "IMAGE", tokenCount: 1_290 },
          { modality: "AUDIO", tokenCount: 5 },
        ],
      },
      { inputUncached: 710, imageInput: 258, audioInput: 32, output: 5, imageOutput: 1_290, audioOutput: 5 },
    ],
    [
      "a cached picture is counted once, as cached",
      {
        promptTokenCount: 300,
        cachedContentTokenCount: 280,
        candidatesTokenCount: 1,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 42 },
          { modality: "IMAGE", tokenCount: 258 },
        ],
        cacheTokensDetails: [
          { modality: "IMAGE", tokenCount: 258 },
          { modality: "TEXT", tokenCount: 22 },
        ],
      },
      { inputUncached: 20, cacheRead: 280, output: 1 },
    ],
    [
      "a missing count is zero if another count is present",
      { promptTokenCount: 7, totalTokenCount: 7 },
      { inputUncached: 7 },
    ],
    ["explicit zeros are values", { promptTokenCount: 0, candidatesTokenCount: 0 }, {}],
  ])("%s", (_, reported, expected) => {
    expect(readGeminiUsage(reported)?.usage).toEqual({ ...noUsage, ...expected });
  });

  test.each([[undefined], [null], [{}], ["x"], [{ promptTokenCount: -1 }], [{ promptTokenCount: 1.5 }]])(
    "returns null for %p",
    (reported) => {
      expect(readGeminiUsage(reported)).toBeNull();
    },
  );

  test("never counts a token twice or below zero, for any numbers", () => {
    const count = fc.option(fc.nat({ max: 5_000 }), { nil: undefined });
    const details = fc.array(
      fc.record({ modality: fc.constantFrom("TEXT", "IMAGE", "AUDIO", "VIDEO"), tokenCount: fc.nat({ max: 9_000 }) }),
      { maxLength: 4 },
    );
    const reported = fc.record({
      promptTokenCount: count,
      cachedContentTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      toolUsePromptTokenCount: count,
      promptTokensDetails: details,
      cacheTokensDetails: details,
      candidatesTokensDetails: details,
      toolUsePromptTokensDetails: details,
    });
    fc.assert(
      fc.property(reported, (metadata) => {
        const usage = readGeminiUsage(metadata)?.usage;
        if (usage === undefined) return;
        const { promptTokenCount: prompt = 0, candidatesTokenCount: candidates = 0 } = metadata;
        const { thoughtsTokenCount: thoughts = 0, toolUsePromptTokenCount: toolUse = 0 } = metadata;
        expect(tokensOf(usage)).toBe(prompt + toolUse + candidates + thoughts);
        expect(Math.min(...Object.values(usage))).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  test("reads written usage back unchanged", () => {
    const count = fc.nat({ max: 100_000 });
    const usage = fc.record({
      inputUncached: count,
      cacheRead: count,
      output: count,
      audioInput: count,
      audioOutput: count,
      imageInput: count,
      imageOutput: count,
    });
    fc.assert(
      fc.property(usage, count, (classes, thoughts) => {
        const whole = { ...noUsage, ...classes, reasoning: Math.min(thoughts, classes.output) };
        expect(readGeminiUsage(writeGeminiUsage(whole))?.usage).toEqual(whole);
      }),
    );
  });

  test("includes cache writes in the prompt and adds up to the total", () => {
    expect(writeGeminiUsage({ ...noUsage, inputUncached: 1, cacheWrite5m: 20, cacheWrite1h: 300, output: 4 })).toEqual({
      promptTokenCount: 321,
      candidatesTokenCount: 4,
      totalTokenCount: 325,
    });
  });
});

test("counts data store queries as one file search", () => {
  const grounded = [{ groundingMetadata: { retrievalQueries: ["a", "b"] } }];
  expect(groundingIn(grounded, "gemini-2.5-pro")).toEqual({
    webSearches: 0,
    fileSearches: 1,
    mapSearches: 0,
    codeSessions: 0,
  });
});
