import { expect, test } from "bun:test";
import { type UsageFigures, usageMeasures } from "@sluice/contract";
import { attemptErrorRateOf, chartOf, errorRateOf, latencyOf, measures } from "./measures.ts";

const figures: UsageFigures = {
  requests: 4,
  attempts: 5,
  succeeded: 4,
  failed: 1,
  cancelled: 0,
  failed_requests: 0,
  input_tokens: 100,
  cached_tokens: 20,
  cache_read_share: 0.2,
  cache_write_tokens: 0,
  output_tokens: 30,
  reasoning_tokens: 0,
  images: 0,
  video_seconds: 0,
  tool_calls: 0,
  cost_usd: 0.5,
  vendor_cost_usd: null,
  own_cost_usd: null,
  request_latency_p50_ms: 250,
  request_latency_p95_ms: 1_100,
  request_first_token_p50_ms: 90,
  request_first_token_p95_ms: 130,
  latency_p50_ms: 200,
  latency_p95_ms: 900,
  first_token_p50_ms: 50,
  first_token_p95_ms: 80,
};
function pointsOf(steps: readonly (UsageFigures | null)[]) {
  return Object.fromEntries(usageMeasures.map((measure) => [measure, steps.map((step) => step?.[measure] ?? null)]));
}

const usage = {
  at: [0, 3_600_000],
  step_ms: 3_600_000,
  series: [
    { id: "m", label: "m", totals: figures, points: pointsOf([figures, null]) },
    { id: "", label: "", totals: figures, points: pointsOf([null, figures]) },
  ],
};

test("sums are bars that start at 0; times are lines with gaps for steps without data", () => {
  expect(chartOf(usage, "spend", "p50").series[0]?.values).toEqual([0.5, 0]);
  expect(chartOf(usage, "tokens", "p50").series[0]?.values).toEqual([130, 0]);
  expect(chartOf(usage, "latency", "p95").series[0]?.values).toEqual([1_100, null]);
  expect(chartOf(usage, "first-token", "p50").series[0]?.values).toEqual([90, null]);
  expect(measures.map((each) => chartOf(usage, each, "p50").kind)).toEqual([
    "bar",
    "bar",
    "bar",
    "line",
    "line",
    "bar",
  ]);
});

test("the rest is drawn in gray with a name that no series uses", () => {
  expect(chartOf(usage, "errors", "p50").series[1]).toMatchObject({ label: "Others", quiet: true });
});

test("the error rate counts errors that callers saw, not successfully retried attempts, and is null without requests", () => {
  expect([errorRateOf(figures), attemptErrorRateOf(figures)]).toEqual([0, 0.2]);
  expect(errorRateOf({ ...figures, failed_requests: 1 })).toBe(0.25);
  expect([errorRateOf({ ...figures, requests: 0 }), attemptErrorRateOf({ ...figures, attempts: 0 })]).toEqual([
    null,
    null,
  ]);
  const failed = { ...usage, series: [{ id: "m", label: "m", totals: figures, points: pointsOf([figures]) }], at: [0] };
  expect(chartOf(failed, "errors", "p50").series[0]?.values).toEqual([0]);
  expect(chartOf(failed, "errors", "p50", true).series[0]?.values).toEqual([1]);
});

test("shows latencies of requests, and of attempts for providers", () => {
  expect(chartOf(usage, "latency", "p50").series[0]?.values).toEqual([250, null]);
  expect(chartOf(usage, "latency", "p50", true).series[0]?.values).toEqual([200, null]);
  expect(chartOf(usage, "first-token", "p95", true).series[0]?.values).toEqual([80, null]);
  expect([latencyOf(figures, "p95", false), latencyOf(figures, "p95", true)]).toEqual([1_100, 900]);
});

test("times are formatted as durations", () => {
  expect(chartOf(usage, "latency", "p50").format?.(1_430)).toBe("1.43 s");
});
