import { describe, expect, test } from "bun:test";
import type { TruthRecord } from "@sluice/simulator";
import { judgeLedger } from "./judge-ledger.ts";
import type { CallRecord } from "./kill-load.ts";
import { expectedNanoUsd, type LedgerRow } from "./ledger-rows.ts";

const served: TruthRecord = {
  attempt_id: "att_1",
  hits: 1,
  dialect: "openai-chat",
  query: "",
  method: "POST",
  path: "/v1/chat/completions",
  model: "up-test",
  received_at: 1,
  authorization_last4: null,
  request_headers: {},
  body_sha256: "",
  body_bytes: 0,
  stream: true,
  prompt_tokens: 10,
  cached_tokens: 3,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  output_tokens_emitted: 20,
  events_emitted: 23,
  bytes_emitted: 1,
  terminal_sent: true,
  usage_sent: true,
  aborted_at: null,
  ended_at: 2,
  status: 200,
  reply_sha256: "",
};

function row(more: Partial<LedgerRow> = {}): LedgerRow {
  const usage = { input_uncached: 7, cache_read: 3, output: 20, ...more };
  return {
    attempt_id: "att_1",
    request_id: "req_1",
    model: "gpt-test",
    provider: "sim",
    stream: true,
    retry_index: 0,
    outcome: "succeeded",
    http_status: 200,
    error_code: null,
    reasoning: 0,
    usage_source: "upstream",
    cost_nano_usd: expectedNanoUsd(usage),
    tags: {},
    ...usage,
    ...more,
  };
}

const finished: CallRecord = { requestId: "req_1", stream: true, finished: true, delivered: 20 };
const aborted: CallRecord = { ...finished, finished: false, delivered: 5 };
const nothing = { input_uncached: 0, cache_read: 0, output: 0, usage_source: "none" } as const;

describe("judgeLedger", () => {
  test("reports nothing if the ledger agrees with the upstream and the callers", () => {
    const verdict = judgeLedger({ truth: [served], rows: [row()], calls: [finished] });
    expect(verdict).toMatchObject({
      missing: 0,
      duplicates: 0,
      wrongTokens: 0,
      wrongCost: 0,
      neverSent: 0,
      faults: [],
    });
  });

  test("accepts partial output of broken calls, and at most an estimated input of calls that were never sent", () => {
    const cancelled = row({ outcome: "cancelled", usage_source: "estimated", output: 6 });
    const unsent = row({ attempt_id: "att_2", request_id: "req_2", outcome: "interrupted", ...nothing });
    const estimate = { usage_source: "estimated" as const, input_uncached: 9, cost_nano_usd: 1_130 };
    const estimated = row({ ...unsent, attempt_id: "att_3", ...estimate });
    const verdict = judgeLedger({ truth: [served], rows: [cancelled, unsent, estimated], calls: [aborted] });
    expect(verdict).toMatchObject({ faults: [], neverSent: 2 });
  });

  test.each([
    ["a missing attempt", { truth: [served], rows: [], calls: [] }, "not in the ledger"],
    ["a duplicate attempt", { truth: [served], rows: [row(), row()], calls: [] }, "more than once"],
    ["an attempt that was sent twice", { truth: [{ ...served, hits: 2 }], rows: [row()], calls: [] }, "sent 2 times"],
    ["one token too many", { truth: [served], rows: [row({ output: 21 })], calls: [] }, "served upstream 7 3 20"],
    [
      "estimated usage of a finished call",
      { truth: [served], rows: [row({ usage_source: "estimated" })], calls: [] },
      "has estimated",
    ],
    ["a wrong cost", { truth: [served], rows: [row({ cost_nano_usd: 1 })], calls: [] }, "instead of"],
    [
      "more output than the upstream sent",
      { truth: [served], rows: [row({ outcome: "interrupted", output: 21 })], calls: [] },
      "more than the 20",
    ],
    [
      "a long stream with missing checkpoints",
      {
        truth: [{ ...served, output_tokens_emitted: 400 }],
        rows: [row({ outcome: "interrupted", output: 100 })],
        calls: [{ ...aborted, delivered: 300 }],
      },
      "too few checkpoints",
    ],
    [
      "less output than the caller received",
      { truth: [served], rows: [row({ outcome: "cancelled", output: 4 })], calls: [aborted] },
      "received 5 tokens",
    ],
    [
      "a finished call that is not recorded as succeeded",
      { truth: [served], rows: [row({ outcome: "interrupted" })], calls: [finished] },
      "is not recorded as succeeded",
    ],
    [
      "an accepted call at no cost",
      {
        truth: [{ ...served, status: 0 }],
        rows: [row({ outcome: "failed", ...nothing, cost_nano_usd: 0 })],
        calls: [],
      },
      "is free",
    ],
    [
      "usage of a call that was never sent",
      { truth: [], rows: [row({ outcome: "failed" })], calls: [] },
      "never reached",
    ],
  ] as const)("reports %s", (_, { truth, rows, calls }, problem) => {
    expect(judgeLedger({ truth: [...truth], rows: [...rows], calls: [...calls] }).faults.join()).toContain(problem);
  });

  test("computes costs with halves of a nano-USD: 7 × 125.5 + 3 × 12.5 + 20 × 600.5 = 12,926 nano-USD", () => {
    expect(expectedNanoUsd({ input_uncached: 7, cache_read: 3, output: 20 })).toBe(12_926);
    expect(expectedNanoUsd({ input_uncached: 1, cache_read: 0, output: 0 })).toBe(126);
    expect(expectedNanoUsd({ input_uncached: 0, cache_read: 1, output: 0 })).toBe(13);
  });
});
