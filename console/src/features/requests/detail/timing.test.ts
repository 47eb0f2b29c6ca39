import { expect, test } from "bun:test";
import { groupRequests } from "../request-group.ts";
import { sampleAttempt } from "./sample-request.ts";
import { spansOf } from "./timing.ts";
import { usageLines } from "./token-classes.ts";

const edges = (spans: ReturnType<typeof spansOf>) => spans.map(({ startMs, endMs }) => [startMs, endMs]);

test("the parts of a single attempt follow each other without a gap and fill its time", () => {
  const spans = spansOf([sampleAttempt({ started_after_ms: 0 })]);
  expect(edges(spans)).toEqual([
    [0, 10],
    [10, 300],
    [300, 400],
    [400, 2_300],
  ]);
});

test("the timeline begins when the request arrives, with the wait before the first attempt", () => {
  const attempt = sampleAttempt({ started_after_ms: 700 });
  const spans = spansOf([attempt]);
  expect(spans[0]?.label).toBe("Before the first attempt");
  expect(edges(spans)).toEqual([
    [0, 700],
    [700, 710],
    [710, 1_000],
    [1_000, 1_100],
    [1_100, 3_000],
  ]);
  // The end of the timeline is the duration, and the first token is where its bar ends.
  const [group] = groupRequests([attempt]);
  expect([spans.at(-1)?.endMs, spans[3]?.endMs]).toEqual([group?.totalMs, group?.firstTokenMs ?? undefined]);
});

test("several attempts share one scale, with the phases of the last one below", () => {
  const failed = sampleAttempt({ started_after_ms: 0, total_ms: 100, outcome: "failed", http_status: 503 });
  const spans = spansOf([failed, sampleAttempt({ attempt_id: "att_2", started_after_ms: 150 })]);
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
  expect(spans.slice(1, 3).map(({ note }) => note)).toEqual(["Failed 500", "Failed 502 (provider: 500)"]);
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
  const refused = sampleAttempt({
    started_after_ms: 0,
    upstream_ms: null,
    provider: "",
    outcome: "rejected",
    total_ms: 1,
  });
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
