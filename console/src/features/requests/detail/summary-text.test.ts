import { expect, test } from "bun:test";
import { formatMoment } from "../../../client/format.ts";
import { sampleAttempt, samplePlace, sampleRequest } from "./sample-request.ts";
import { summaryOf } from "./summary-text.ts";

test("a plain request: who asked for what, who answered, what it used and cost", () => {
  expect(summaryOf(sampleRequest([sampleAttempt()]))).toEqual([
    "Key “ci” of workspace acme asked for gpt-test (Chat completions, streamed).",
    "Provider main (gpt-up) answered in 2300 ms, the first token after 400 ms.",
    "1,234 tokens in (234 from the cache), 56 tokens out cost $0.0042 at price version prc_1.",
  ]);
});

test("a failover: who was passed over and why, what failed and in which words, who answered then", () => {
  const failed = sampleAttempt({
    attempt_id: "att_0",
    provider: "second",
    deployment: "second",
    outcome: "failed",
    http_status: 503,
    upstream_status: 503,
    error_code: "upstream_error",
    usage: {},
    cost_usd: 0,
    cost_lines: [],
    first_token_ms: null,
    total_ms: 90,
  });
  const explanation = {
    plan: [
      samplePlace("second", null),
      samplePlace("main", null),
      samplePlace("first", "drawn by weight, first of 2; cooling for 3.2 s: rate limited; wait"),
      samplePlace("off", "left out: it is switched off"),
    ],
    failures: [{ attempt_id: "att_0", code: "upstream_error", message: "Overloaded.", retry: "other" as const }],
  };
  const said = summaryOf(sampleRequest([failed, sampleAttempt({ deployment: "main" })], explanation));
  expect(said.slice(1, 3)).toEqual([
    "Provider first was passed over: cooling for 3.2 s: rate limited; wait.",
    "Provider second (gpt-up) failed after 90 ms with 503 upstream_error: Overloaded; then provider main (gpt-up) answered in 2300 ms, the first token after 400 ms.",
  ]);
});

test("a refusal says by which limit, how far it was used, and when it frees", () => {
  const attempt = sampleAttempt({
    outcome: "rejected",
    http_status: 402,
    error_code: "budget_exceeded",
    provider: "",
    deployment: "",
    usage: {},
    cost_usd: 0,
    cost_lines: [],
  });
  const refusal = {
    code: "budget_exceeded",
    message: "The budget is used up.",
    scope: "key ci, per day",
    limit: 5,
    used: 5.25,
    resets_at: 1_790_000_000_000,
  };
  expect(summaryOf(sampleRequest([attempt], { refusal })).slice(1)).toEqual([
    "The caller was refused with 402 budget_exceeded: The budget is used up. " +
      `Limit: key ci, per day; used: $5.25 of $5.00; frees: ${formatMoment(1_790_000_000_000)}.`,
  ]);
});

test("what is an estimate says so, and so does a model without a price", () => {
  const guessed = sampleAttempt({ usage_source: "estimated", price_version: null, cost_usd: 0, cost_lines: [] });
  expect(summaryOf(sampleRequest([guessed])).at(-1)).toBe(
    "1,234 tokens in (234 from the cache), 56 tokens out cost nothing, because the model has no price. " +
      "The upstream did not say how much it was; this is an estimate.",
  );
});

test("a request whose attempts are gone still gets a sentence", () => {
  expect(summaryOf(sampleRequest([]))).toHaveLength(1);
});
