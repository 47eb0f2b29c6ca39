import { expect, test } from "bun:test";
import { formatMoment } from "../../../client/format.ts";
import { sampleAttempt, samplePlace, sampleRequest } from "./sample-request.ts";
import { summaryOf } from "./summary-text.ts";

test("a simple request: the caller, the model, the provider, usage and cost", () => {
  expect(summaryOf(sampleRequest([sampleAttempt()]))).toEqual([
    "API key “ci” of workspace acme requested gpt-test (Chat completions, streamed).",
    "Provider main (gpt-up) had responded in full 2.3 s after the request arrived; the first token came after 400 ms.",
    "Used 1,234 input tokens (234 cached) and 56 output tokens.",
    "It cost $0.0042 at price version prc_1.",
  ]);
});

test("a failover: skipped deployments with reasons, the error of the failed one, and the provider that answered", () => {
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
      samplePlace("first", "drawn by weight, first of 2; cooling for 3.2 s: its upstream asked to wait", [
        { code: "drawn_by_weight", params: { count: 2 } },
        { code: "cooling", params: { seconds: 3.2 } },
        { code: "upstream_asked_to_wait", params: {} },
      ]),
      samplePlace("off", "left out: disabled", [{ code: "deployment_disabled", params: {} }]),
    ],
    failures: [{ attempt_id: "att_0", code: "upstream_error", message: "Overloaded.", retry: "other" as const }],
  };
  const sentences = summaryOf(sampleRequest([failed, sampleAttempt({ deployment: "main" })], explanation));
  expect(sentences.slice(1, 4)).toEqual([
    "Provider first was skipped: cooling down for 3.2 s, the provider asked to wait.",
    "Provider second (gpt-up) failed after 90 ms with 503 upstream_error: Overloaded.",
    "Provider main (gpt-up) had responded in full 2.3 s after the request arrived; the first token came after 400 ms.",
  ]);
});

test("a refusal shows the limit, its usage and when it resets", () => {
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
    reached: null,
  };
  expect(summaryOf(sampleRequest([attempt], { refusal })).slice(1)).toEqual([
    "The request was refused with 402 budget_exceeded: The budget is used up.",
    "Limit: key ci, per day.",
    "Used $5.25 of $5.00.",
    `Resets ${formatMoment(1_790_000_000_000)}.`,
  ]);
});

test("estimates and models without a price are marked", () => {
  const guessed = sampleAttempt({ usage_source: "estimated", price_version: null, cost_usd: 0, cost_lines: [] });
  expect(summaryOf(sampleRequest([guessed])).slice(-3)).toEqual([
    "Used 1,234 input tokens (234 cached) and 56 output tokens.",
    "It cost nothing, because the model has no price.",
    "The provider reported no usage; the numbers are estimates.",
  ]);
});

test("a request without stored attempts still gets a sentence", () => {
  expect(summaryOf(sampleRequest([]))).toHaveLength(1);
});

test("a status that the gateway changed is shown as sent by the provider and as received by the client", () => {
  const broken = { outcome: "failed" as const, http_status: 502, upstream_status: 500, error_code: "upstream_error" };
  const failures = [{ attempt_id: "att_1", code: "upstream_error", message: "It broke.", retry: "other" as const }];
  const sentences = summaryOf(sampleRequest([sampleAttempt({ ...broken, total_ms: 90 })], { failures }));
  expect(sentences[1]).toBe(
    "Provider main (gpt-up) returned 500 after 90 ms; the client received 502 upstream_error: It broke.",
  );
});

const refused = {
  ...{ outcome: "rejected" as const, http_status: 404, error_code: "model_not_found", provider: "", deployment: "" },
  ...{ usage: {}, cost_usd: 0, cost_lines: [], model: "(unknown)", started_after_ms: 0 },
};

test("a refused model is named as requested, and never as a fallback", () => {
  const [first, second, ...more] = summaryOf(sampleRequest([sampleAttempt({ ...refused, requested_model: "gpt-9" })]));
  expect(first).toBe("API key “ci” of workspace acme requested gpt-9 (Chat completions, streamed).");
  expect(second).toBe("The request was refused with 404 model_not_found.");
  expect(more).toEqual([]);
});

test("a request that was refused before its body was read has no model, and neither has a passed-through one", () => {
  const unread = { ...refused, model: "(not read)", requested_model: "(not read)", error_code: "rate_limit_exceeded" };
  expect(summaryOf(sampleRequest([sampleAttempt(unread)]))[0]).toBe(
    "API key “ci” of workspace acme sent a request (Chat completions). It was refused before its body was read, so the requested model was not recorded.",
  );
  const passThrough = { model: "(pass-through)", requested_model: "(pass-through)", operation: "GET /files/{id}" };
  expect(summaryOf(sampleRequest([sampleAttempt({ ...passThrough, endpoint: "pass-through" })]))[0]).toBe(
    "API key “ci” of workspace acme called the provider's own API: GET /files/{id}.",
  );
  const priced = { model: "(pass-through)", requested_model: "gpt-9", operation: "POST /x" };
  expect(summaryOf(sampleRequest([sampleAttempt(priced)])).join(" ")).not.toContain("(pass-through)");
});

test("every time counts from the arrival of the request", () => {
  const sentences = summaryOf(sampleRequest([sampleAttempt({ started_after_ms: 700 })]));
  expect(sentences[1]).toBe(
    "Provider main (gpt-up) had responded in full 3.0 s after the request arrived; the first token came after 1.1 s.",
  );
});

test("a row that counts identical refusals names their number", () => {
  expect(summaryOf(sampleRequest([sampleAttempt({ ...refused, calls: 6 })])).at(-1)).toBe(
    "6 identical refusals within one second share this row.",
  );
});
