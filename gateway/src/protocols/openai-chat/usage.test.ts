import { describe, expect, test } from "bun:test";
import { readChatUsage } from "./usage.ts";

const read = (reported: object) => readChatUsage(reported)?.usage;

describe("chat usage", () => {
  test("keeps totals that agree, with reasoning, audio and cache inside", () => {
    const reported = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10, audio_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 15 },
    };
    expect(read(reported)).toMatchObject({
      ...{ inputUncached: 30, cacheRead: 40, cacheWrite5m: 10, audioInput: 20 },
      ...{ output: 35, audioOutput: 15, reasoning: 30 },
    });
  });

  test.each([
    [{ prompt_tokens: 8, completion_tokens: 10 }],
    [{ prompt_tokens: 8, completion_tokens: 10, total_tokens: 3 }],
    [{ prompt_tokens: 8, completion_tokens: 10, total_tokens: null }],
    [{ prompt_tokens: 8, completion_tokens: 10, total_tokens: 0 }],
  ])("counts output in %j from completion_tokens", (reported) => {
    expect(read(reported)).toMatchObject({ inputUncached: 8, output: 10 });
  });

  test("splits pictures on both sides", () => {
    const reported = {
      prompt_tokens: 300,
      completion_tokens: 1_310,
      total_tokens: 1_610,
      prompt_tokens_details: { image_tokens: 258 },
      completion_tokens_details: { image_tokens: 1_290 },
    };
    expect(read(reported)).toMatchObject({ inputUncached: 42, imageInput: 258, output: 20, imageOutput: 1_290 });
  });

  test("never makes a class negative", () => {
    const reported = {
      prompt_tokens: 10,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 8, audio_tokens: 9, image_tokens: 9 },
      completion_tokens_details: { audio_tokens: 3, image_tokens: 9, reasoning_tokens: 9 },
    };
    expect(read(reported)).toMatchObject({
      ...{ inputUncached: 0, cacheRead: 8, audioInput: 2, imageInput: 0 },
      ...{ output: 0, audioOutput: 3, imageOutput: 1, reasoning: 0 },
    });
  });
});
