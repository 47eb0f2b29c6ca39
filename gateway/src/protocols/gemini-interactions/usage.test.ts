import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { noUsage, tokensOf } from "#core/index.ts";
import { readInteractionUsage, writeInteractionUsage } from "./usage.ts";

describe("splitting the usage of an interaction into token classes", () => {
  test.each([
    ["plain", { total_input_tokens: 10, total_output_tokens: 3, total_tokens: 13 }, { inputUncached: 10, output: 3 }],
    [
      "cached tokens are part of the input",
      { total_input_tokens: 100, total_cached_tokens: 80, total_output_tokens: 3 },
      { inputUncached: 20, cacheRead: 80, output: 3 },
    ],
    [
      "thoughts are on top of the output by the total",
      { total_input_tokens: 10, total_output_tokens: 3, total_thought_tokens: 40, total_tokens: 53 },
      { inputUncached: 10, output: 43, reasoning: 40 },
    ],
    [
      "thoughts are part of the output by the total",
      { total_input_tokens: 10, total_output_tokens: 43, total_thought_tokens: 40, total_tokens: 53 },
      { inputUncached: 10, output: 43, reasoning: 40 },
    ],
    [
      "without a total, thoughts and the input of tools are charged on top",
      { total_input_tokens: 10, total_output_tokens: 3, total_thought_tokens: 40, total_tool_use_tokens: 500 },
      { inputUncached: 510, output: 43, reasoning: 40 },
    ],
    [
      "the input of tools is part of the input by the total",
      { total_input_tokens: 510, total_output_tokens: 3, total_tool_use_tokens: 500, total_tokens: 513 },
      { inputUncached: 510, output: 3 },
    ],
    [
      "thoughts and the input of tools are both part of their sides by the total",
      {
        ...{ total_input_tokens: 510, total_output_tokens: 43, total_tool_use_tokens: 500 },
        ...{ total_thought_tokens: 40, total_tokens: 553 },
      },
      { inputUncached: 510, output: 43, reasoning: 40 },
    ],
    [
      "a larger total is charged as output",
      { total_input_tokens: 10, total_output_tokens: 3, total_tokens: 20 },
      { inputUncached: 10, output: 10, unexplained: 7 },
    ],
    [
      "audio and pictures have their own classes",
      {
        ...{ total_input_tokens: 300, total_output_tokens: 1_300 },
        input_tokens_by_modality: [
          { modality: "text", tokens: 10 },
          { modality: "image", tokens: 258 },
          { modality: "audio", tokens: 32 },
        ],
        output_tokens_by_modality: [{ modality: "image", tokens: 1_290 }],
      },
      { inputUncached: 10, imageInput: 258, audioInput: 32, output: 10, imageOutput: 1_290 },
    ],
    [
      "searches are counted",
      {
        ...{ total_input_tokens: 10, total_output_tokens: 3 },
        grounding_tool_count: [
          { type: "google_search", count: 2 },
          { type: "google_maps", count: 1 },
          { type: "retrieval", count: 4 },
        ],
      },
      { inputUncached: 10, output: 3, webSearches: 2, mapSearches: 1, fileSearches: 4 },
    ],
  ])("%s", (_, reported, expected) => {
    expect(readInteractionUsage(reported)?.usage).toMatchObject(expected);
  });

  test.each([{}, null, "many", { total_input_tokens: -1 }, { total_output_tokens: 1.5 }, { total_tokens: "9" }])(
    "%j is no usage",
    (reported) => expect(readInteractionUsage(reported)).toBeNull(),
  );
});

test("usage that is written has the same classes when it is read", () => {
  const count = fc.nat({ max: 100_000 });
  const usages = fc.record({ inputUncached: count, cacheRead: count, audioInput: count, imageInput: count });
  fc.assert(
    fc.property(usages, fc.record({ answer: count, reasoning: count }), (input, { answer, reasoning }) => {
      const usage = { ...noUsage, ...input, output: answer + reasoning, reasoning };
      const read = readInteractionUsage(writeInteractionUsage(usage))?.usage ?? noUsage;
      expect(read).toEqual(usage);
      expect(tokensOf(read)).toEqual(tokensOf(usage));
    }),
  );
});
