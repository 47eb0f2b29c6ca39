import { expect, test } from "bun:test";
import { noReply, usageOf, withChunk } from "./reply.ts";

const delta = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

test("text, thinking and tool calls grow piece by piece", () => {
  const chunks = [
    delta({ role: "assistant", content: null }),
    delta({ reasoning_content: "hm" }),
    delta({ content: "It is " }),
    delta({ content: "sunny" }),
    delta({ tool_calls: [{ index: 0, id: "c1", function: { name: "weather", arguments: "" } }] }),
    delta({ tool_calls: [{ index: 4, id: "c2", function: { name: "time", arguments: '{"a"' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
    delta({ tool_calls: [{ index: 4, function: { arguments: ":1}" } }] }),
    delta({}, "tool_calls"),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
  ];
  expect(chunks.reduce(withChunk, noReply)).toEqual({
    text: "It is sunny",
    thinking: "hm",
    finish: "tool_calls",
    toolCalls: [
      { index: 0, id: "c1", name: "weather", arguments: '{"city":"Oslo"}' },
      { index: 4, id: "c2", name: "time", arguments: '{"a":1}' },
    ],
  });
});

test("an invalid chunk changes nothing", () => {
  for (const odd of [null, 1, [], {}, { choices: {} }, { choices: [null] }, delta({ content: 5, tool_calls: {} })]) {
    expect(withChunk(noReply, odd)).toEqual(noReply);
  }
  expect(usageOf({ usage: null })).toBeNull();
  expect(usageOf({ usage: { prompt_tokens: 2 } })).toEqual({ inputTokens: 2, outputTokens: null });
});
