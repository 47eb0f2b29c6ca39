import { expect, test } from "bun:test";
import { durationOf, groupRequests } from "./request-group.ts";
import { sampleRow } from "./sample-row.ts";

test("groups the attempts of a request into one line, in order, with their sums", () => {
  const groups = groupRequests([
    sampleRow({
      ...{ attempt_id: "b2", request_id: "b", retry_index: 1, at: 2_000, total_ms: 500, cost_usd: 0.2 },
      started_after_ms: 1_000,
    }),
    sampleRow({ attempt_id: "a1", request_id: "a", at: 1_500 }),
    sampleRow({ attempt_id: "b1", request_id: "b", at: 1_000, total_ms: 900, cost_usd: 0.1, outcome: "failed" }),
  ]);
  expect(groups.map((group) => group.requestId)).toEqual(["b", "a"]);
  const [b] = groups;
  expect(b?.attempts.map((row) => row.attempt_id)).toEqual(["b1", "b2"]);
  expect([b?.last.attempt_id, b?.at, b?.totalMs]).toEqual(["b2", 1_000, 1_500]);
  expect(b?.costUsd).toBeCloseTo(0.3, 12);
});

test("the same attempt twice counts once", () => {
  const row = sampleRow({ input_tokens: 7 });
  const groups = groupRequests([row, { ...row }]);
  expect(groups.map((group) => [group.attempts.length, group.inputTokens])).toEqual([[1, 7]]);
});

test("a pending background response has a duration until now and shows its hold", () => {
  const at = Date.now() - 60_000;
  const [group] = groupRequests([sampleRow({ at, total_ms: 20, outcome: "pending", held_usd: 0.07 })]);
  if (group === undefined) throw new Error("there is one");
  expect([durationOf(group) >= 60_000, group.heldUsd]).toEqual([true, 0.07]);
  const [ended] = groupRequests([sampleRow({ at, total_ms: 20 })]);
  expect([ended?.totalMs, ended?.heldUsd]).toEqual([20, null]);
});
