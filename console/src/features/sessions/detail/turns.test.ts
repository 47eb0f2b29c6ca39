import { expect, test } from "bun:test";
import type { SessionRequest } from "@sluice/contract";
import { sampleRow } from "../../requests/sample-row.ts";
import { turnsOf } from "./turns.ts";

const row = (attempt: string, more: Partial<SessionRequest>): SessionRequest => ({
  ...sampleRow({ attempt_id: attempt, ...more }),
  cache_read_tokens: 0,
  tool_calls: {},
  tools: [],
  ...more,
});

test("adds up the attempts of a request as one turn, in the order of the session", () => {
  const turns = turnsOf([
    row("a1", { request_id: "a", at: 1_000, input_tokens: 100, cache_read_tokens: 0, cost_usd: 1 }),
    row("b1", { request_id: "b", at: 2_000, input_tokens: 100, cache_read_tokens: 50, cost_usd: 2, retry_index: 0 }),
    row("b2", {
      ...{ request_id: "b", at: 3_000, input_tokens: 100, cache_read_tokens: 100, cost_usd: 3, retry_index: 1 },
      tool_calls: { web_searches: 2 },
      tools: [{ name: "Read", calls: 2, results: 0, errors: 0 }],
    }),
    row("c1", { request_id: "c", at: 4_000, input_tokens: 0, cost_usd: 0 }),
  ]);
  expect(turns.map(({ number, requestId, costUsd, cacheShare }) => [number, requestId, costUsd, cacheShare])).toEqual([
    [1, "a", 1, 0],
    [2, "b", 5, 0.75],
    [3, "c", 0, null],
  ]);
  expect(turns[1]?.providerTools).toEqual({ web_searches: 2 });
  expect(turns.map(({ tools }) => tools.map(({ name }) => name))).toEqual([[], ["Read"], []]);
});
