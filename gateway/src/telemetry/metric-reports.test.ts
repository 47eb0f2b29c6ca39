import { expect, test } from "bun:test";
import { noUsage } from "#core/index.ts";
import { ledgerEntry } from "../../test/conformance/store-fixture.ts";
import { createMetrics, type MetricReport, mergeCounts, mergeReports, reportText, valueIn } from "./index.ts";

/** As it comes over a channel. */
async function reportOf(metrics: ReturnType<typeof createMetrics>): Promise<MetricReport> {
  return JSON.parse(JSON.stringify(await metrics.report())) as MetricReport;
}

function counted(calls: number, streams: number, healthy: number) {
  const metrics = createMetrics();
  for (let call = 0; call < calls; call++) {
    metrics.attemptEnd(ledgerEntry("1", { usage: { ...noUsage, inputUncached: 7 } }));
    metrics.requestEnd({ route: "chat", status: 200, outcome: "succeeded", totalMs: 30 });
  }
  metrics.numbers({ sluice_streams_open: () => streams, sluice_ledger_healthy: () => healthy });
  return metrics;
}

/** Without what this process itself is measured by: that differs from one moment to the next. */
const ownLines = (text: string): string[] => text.split("\n").filter((line) => !/process_|event_loop/.test(line));

test("reports of one process give the same text as the process itself", async () => {
  const metrics = counted(3, 2, 1);
  metrics.numbers({ sluice_redis_unsent: () => Number.NaN });
  metrics.requestEnd({ route: 'odd"route\\\n', status: 200, outcome: "succeeded", totalMs: 1 });
  const text = await metrics.text();
  expect(ownLines(reportText(await reportOf(metrics)))).toEqual(ownLines(text));
  const lines = text.split("\n");
  expect(lines).toContain('sluice_requests_total{route="odd\\"route\\\\\\n",status="200",outcome="succeeded"} 1');
  expect(lines).toContain('sluice_request_duration_seconds_bucket{le="0.005",route="odd\\"route\\\\\\n"} 1');
  expect(lines).toContain('sluice_request_duration_seconds_bucket{le="+Inf",route="odd\\"route\\\\\\n"} 1');
  expect(lines).toContain("sluice_redis_unsent Nan");
});

test("sums counters and histograms; a gauge is summed or reports the worst value", async () => {
  const one = counted(3, 2, 1);
  one.breakers(() => [{ deployment: "dep_1", provider: "openai", model: "gpt", breaker: "open" }]);
  const other = counted(4, 5, 0);
  other.breakers(() => [{ deployment: "dep_1", provider: "openai", model: "gpt", breaker: "closed" }]);
  one.numbers({ sluice_redis_up: () => 1 });
  other.numbers({ sluice_redis_up: () => 0 });
  other.requestEnd({ route: "models", status: 200, outcome: "succeeded", totalMs: 1 });
  const merged = mergeReports([await reportOf(one), await reportOf(other)]);
  const lines = reportText(merged).split("\n");
  expect(lines).toContain('sluice_requests_total{route="chat",status="200",outcome="succeeded"} 7');
  expect(lines).toContain('sluice_requests_total{route="models",status="200",outcome="succeeded"} 1');
  expect(lines).toContain('sluice_request_duration_seconds_bucket{le="0.1",route="chat"} 7');
  expect(lines).toContain('sluice_request_duration_seconds_count{route="chat"} 7');
  expect(lines).toContain('sluice_breaker_state{deployment="dep_1",provider="openai",model="gpt"} 2');
  expect(lines).toContain("sluice_redis_up 0");
  expect([valueIn(merged, "sluice_streams_open"), valueIn(merged, "sluice_ledger_healthy")]).toEqual([7, 0]);
  expect(lines.filter((line) => line.startsWith("# TYPE sluice_requests_total"))).toHaveLength(1);
});

test("keeps only counters and histograms of a process that ended", async () => {
  const kept = mergeCounts([await reportOf(counted(3, 2, 1))]);
  expect(kept.map(({ type }) => type)).not.toContain("gauge");
  expect(reportText(kept)).toContain('sluice_requests_total{route="chat",status="200",outcome="succeeded"} 3');
});
