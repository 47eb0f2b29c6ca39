import { describe, expect, test } from "bun:test";
import type { TruthRecord } from "@sluice/simulator";
import { judgeLedger } from "./judge-ledger.ts";
import type { CallSeen } from "./kill-load.ts";
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

const finished: CallSeen = { requestId: "req_1", stream: true, finished: true, delivered: 20 };
const left: CallSeen = { ...finished, finished: false, delivered: 5 };
const nothing = { input_uncached: 0, cache_read: 0, output: 0, usage_source: "none" } as const;

describe("the judge of the ledger", () => {
  test("is content with a ledger that agrees with upstream and callers", () => {
    const verdict = judgeLedger({ truth: [served], rows: [row()], calls: [finished] });
    expect(verdict).toMatchObject({ missing: 0, doubled: 0, wrongTokens: 0, wrongCost: 0, neverSent: 0, faults: [] });
  });

  test("lets broken calls have what was seen of them, and unsent ones at most their input, as a guess", () => {
    const cancelled = row({ outcome: "cancelled", usage_source: "estimated", output: 6 });
    const unsent = row({ attempt_id: "att_2", request_id: "req_2", outcome: "interrupted", ...nothing });
    const guess = { usage_source: "estimated" as const, input_uncached: 9, cost_nano_usd: 1_130 };
    const guessed = row({ ...unsent, attempt_id: "att_3", ...guess });
    const verdict = judgeLedger({ truth: [served], rows: [cancelled, unsent, guessed], calls: [left] });
    expect(verdict).toMatchObject({ faults: [], neverSent: 2 });
  });

  test.each([
    ["an attempt that is missing", { truth: [served], rows: [], calls: [] }, "not in the ledger"],
    ["an attempt that is there twice", { truth: [served], rows: [row(), row()], calls: [] }, "more than once"],
    ["an attempt that was sent again", { truth: [{ ...served, hits: 2 }], rows: [row()], calls: [] }, "sent 2 times"],
    ["a token too many", { truth: [served], rows: [row({ output: 21 })], calls: [] }, "served upstream 7 3 20"],
    [
      "usage that was guessed",
      { truth: [served], rows: [row({ usage_source: "estimated" })], calls: [] },
      "has estimated",
    ],
    [
      "a cost that is one nano-USD off",
      { truth: [served], rows: [row({ cost_nano_usd: 1 })], calls: [] },
      "instead of",
    ],
    [
      "more output than left the upstream",
      { truth: [served], rows: [row({ outcome: "interrupted", output: 21 })], calls: [] },
      "more than the 20",
    ],
    [
      "a long stream whose checkpoints are missing",
      {
        truth: [{ ...served, output_tokens_emitted: 400 }],
        rows: [row({ outcome: "interrupted", output: 100 })],
        calls: [{ ...left, delivered: 300 }],
      },
      "checkpoints were too few",
    ],
    [
      "less output than arrived",
      { truth: [served], rows: [row({ outcome: "cancelled", output: 4 })], calls: [left] },
      "delivered 5 tokens",
    ],
    [
      "a finished call that did not succeed",
      { truth: [served], rows: [row({ outcome: "interrupted" })], calls: [finished] },
      "did not succeed",
    ],
    [
      "a call that the upstream took, and that is free",
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
  ] as const)("finds %s", (_, { truth, rows, calls }, says) => {
    expect(judgeLedger({ truth: [...truth], rows: [...rows], calls: [...calls] }).faults.join()).toContain(says);
  });

  test("works cost out to the half: 7 × 125.5 + 3 × 12.5 + 20 × 600.5 = 12,926 nano-USD", () => {
    expect(expectedNanoUsd({ input_uncached: 7, cache_read: 3, output: 20 })).toBe(12_926);
    expect(expectedNanoUsd({ input_uncached: 1, cache_read: 0, output: 0 })).toBe(126);
    expect(expectedNanoUsd({ input_uncached: 0, cache_read: 1, output: 0 })).toBe(13);
  });
});
