import { expect, test } from "bun:test";
import { sampleAttempt } from "./sample-request.ts";
import { spansOf } from "./timing.ts";
import { usageLines } from "./token-classes.ts";

const edges = (spans: ReturnType<typeof spansOf>) => spans.map(({ startMs, endMs }) => [startMs, endMs]);

test("the parts of a single attempt follow each other without a gap and fill its time", () => {
  const spans = spansOf([sampleAttempt()]);
  expect(edges(spans)).toEqual([
    [0, 10],
    [10, 300],
    [300, 400],
    [400, 2_300],
  ]);
});

test("several attempts share one scale, with the phases of the last one below", () => {
  const failed = sampleAttempt({ at: 1_000, total_ms: 100, outcome: "failed", http_status: 503 });
  const spans = spansOf([failed, sampleAttempt({ attempt_id: "att_2", at: 1_150 })]);
  expect(edges(spans).slice(0, 3)).toEqual([
    [0, 100],
    [150, 2_450],
    [150, 160],
  ]);
  expect(spans.map((span) => span.tone).slice(0, 2)).toEqual(["bad", "good"]);
});

test("an upstream error is not shown as no answer, and has its own status", () => {
  const broken = {
    http_status: 502,
    upstream_status: 500,
    outcome: "failed" as const,
    first_byte_ms: null,
    first_token_ms: null,
  };
  const first = sampleAttempt({ ...broken, at: 1_000 });
  const spans = spansOf([first, sampleAttempt({ ...broken, attempt_id: "b", at: 2_000 })]);
  expect(spans.slice(0, 2).map(({ note }) => note)).toEqual(["Failed 500", "Failed 502 (provider: 500)"]);
  expect(spans.at(-1)?.label).toBe("Provider, until it returned 500");
  const silent = spansOf([sampleAttempt({ ...broken, upstream_status: null, error_code: "upstream_timeout" })]);
  expect(silent.at(-1)?.label).toBe("Provider, no response");
  const unread = spansOf([sampleAttempt({ ...broken, upstream_status: null, error_code: "upstream_error" })]);
  expect(unread.at(-1)?.label).toBe("Provider, until it failed");
});

test("no bar runs backwards if the clock was set back or a time exceeds the total", () => {
  const odd = { first_byte_ms: 9_000, first_token_ms: 20, upstream_ms: 5_000 };
  for (const span of spansOf([sampleAttempt({ at: 2_000 }), sampleAttempt({ attempt_id: "b", at: 1_000, ...odd })])) {
    expect(span.startMs).toBeGreaterThanOrEqual(0);
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
  }
});

test("a request refused before sending has one bar", () => {
  const refused = sampleAttempt({ upstream_ms: null, provider: "", outcome: "rejected", total_ms: 1 });
  expect(edges(spansOf([refused]))).toEqual([[0, 1]]);
});

test("every used class has a line, priced or not, and the lines add up to the cost", () => {
  const attempt = sampleAttempt();
  const lines = usageLines(attempt);
  expect(lines.map((line) => [line.name, line.units, line.inside])).toEqual([
    ["input_uncached", 1_000, false],
    ["cache_read", 234, false],
    ["output", 56, false],
    ["reasoning", 6, true],
  ]);
  expect(lines.reduce((sum, line) => sum + (line.usd ?? 0), 0)).toBeCloseTo(attempt.cost_usd, 9);
  expect(usageLines({ usage: { new_class: 3 }, cost_lines: [] }).map((line) => line.label)).toEqual(["new_class"]);
});
