import { expect, test } from "bun:test";
import { bounds, noUsage } from "#core/index.ts";
import { ledgerEntry } from "../../test/conformance/store-ground.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { type BreakerNumber, createMetrics } from "./index.ts";

test("an attempt is counted by provider, model, outcome and error, with its tokens, cost and times", async () => {
  const metrics = createMetrics();
  metrics.attemptEnd(ledgerEntry("1"));
  metrics.attemptEnd(ledgerEntry("1", { usage: { ...noUsage, cacheWrite5m: 7, videoSeconds: 2 } }));
  const failed = {
    outcome: "failed",
    errorCode: "upstream_timeout",
    usage: noUsage,
    costNanoUsd: 0,
    firstByteMs: null,
  } as const;
  metrics.attemptEnd(ledgerEntry("1", failed));
  const lines = (await metrics.text()).split("\n");
  const labels = 'provider="openai-main",model="gpt-5"';
  expect(lines).toContain(`sluice_attempts_total{${labels},outcome="succeeded",error="",cause=""} 2`);
  expect(lines).toContain(
    `sluice_attempts_total{${labels},outcome="failed",error="upstream_timeout",cause="timeout"} 1`,
  );
  expect(lines).toContain('sluice_tokens_total{model="gpt-5",class="input_uncached"} 100');
  expect(lines).toContain('sluice_tokens_total{model="gpt-5",class="cache_write_5m"} 7');
  expect(lines).toContain('sluice_cost_usd_total{model="gpt-5"} 0.000855');
  expect(lines).toContain(`sluice_first_byte_seconds_count{${labels}} 2`);
  expect(lines).toContain('sluice_overhead_seconds_bucket{le="0.0005"} 3');
});

test("what is used without a price is counted, so that somebody sees it", async () => {
  const metrics = createMetrics();
  metrics.attemptEnd(ledgerEntry("1"));
  metrics.attemptEnd(ledgerEntry("2", { priceVersion: null, costNanoUsd: 0 }));
  metrics.attemptEnd(ledgerEntry("3", { priceVersion: null, costNanoUsd: 0, usage: noUsage }));
  expect((await metrics.text()).split("\n")).toContain('sluice_unpriced_attempts_total{model="gpt-5"} 1');
});

test("the version that runs is among the numbers", async () => {
  expect(await createMetrics({ version: "1.2.3" }).text()).toContain(
    'sluice_build_info{version="1.2.3",revision="unknown",runtime="bun ',
  );
});

test("requests and reloads are counted", async () => {
  const metrics = createMetrics();
  metrics.requestEnd({ route: "chat", status: 200, outcome: "succeeded", totalMs: 40 });
  metrics.requestEnd({ route: "chat", status: 429, outcome: "refused", totalMs: 1 });
  metrics.configReload("refused");
  const lines = (await metrics.text()).split("\n");
  expect(lines).toContain('sluice_requests_total{route="chat",status="429",outcome="refused"} 1');
  expect(lines).toContain('sluice_request_duration_seconds_bucket{le="0.1",route="chat"} 2');
  expect(lines).toContain('sluice_config_reloads_total{result="refused"} 1');
});

test("a result of a reading is there before it is first met: what appears as 1 has not grown, to Prometheus", async () => {
  const lines = (await createMetrics().text()).split("\n");
  expect(lines.filter((line) => line.startsWith("sluice_config_reloads_total"))).toEqual([
    'sluice_config_reloads_total{result="applied"} 0',
    'sluice_config_reloads_total{result="unchanged"} 0',
    'sluice_config_reloads_total{result="refused"} 0',
  ]);
});

test("breakers are told with the names they are known by, the worst first, and go with their deployment", async () => {
  const metrics = createMetrics();
  let breakers: readonly BreakerNumber[] = [
    { deployment: "dep_1", provider: "azure", model: "gpt", breaker: "closed" },
    { deployment: "dep_2", provider: "openai", model: "gpt", breaker: "open" },
  ];
  metrics.breakers(() => breakers);
  const told = async (): Promise<readonly string[]> =>
    (await metrics.text()).split("\n").filter((line) => line.startsWith("sluice_breaker_state"));
  expect(await told()).toEqual([
    'sluice_breaker_state{deployment="dep_2",provider="openai",model="gpt"} 2',
    'sluice_breaker_state{deployment="dep_1",provider="azure",model="gpt"} 0',
  ]);
  breakers = breakers.slice(0, 1);
  expect(await told()).toHaveLength(1);
});

test("a model that a caller made up never becomes a label", async () => {
  const metrics = createMetrics();
  for (let i = 0; i < 100; i++) {
    metrics.attemptEnd(
      ledgerEntry("1", { provider: "", model: `made-up-${i}`, outcome: "rejected", errorCode: "model_not_found" }),
    );
  }
  const text = await metrics.text();
  expect(text).not.toContain("made-up");
  expect(text).toContain(
    'sluice_attempts_total{provider="none",model="none",outcome="rejected",error="model_not_found",cause=""} 100',
  );
});

test("beyond the bound, pairs of provider and model are counted as other, and nothing is lost", async () => {
  const metrics = createMetrics();
  for (let i = 0; i < bounds.metricPairsMax + 50; i++)
    metrics.attemptEnd(ledgerEntry("1", { model: `m-${i}`, usage: noUsage }));
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("sluice_attempts_total{"));
  expect(lines).toHaveLength(bounds.metricPairsMax + 1);
  expect(lines).toContain(
    'sluice_attempts_total{provider="other",model="other",outcome="succeeded",error="",cause=""} 50',
  );
});

test("gauges are asked for at the scrape, and one that fails does not take the others with it", async () => {
  const metrics = createMetrics();
  let lag = 1;
  metrics.numbers({
    sluice_ledger_lag_entries: () => lag,
    sluice_streams_open: () => {
      throw new Error("broken");
    },
  });
  lag = 7;
  const text = await metrics.text();
  expect(text).toContain("\nsluice_ledger_lag_entries 7\n");
  expect(text).toMatch(/\nprocess_resident_memory_bytes \d{7,}\n/);
  expect(metrics.contentType).toStartWith("text/plain; version=0.0.4");
});

test("counts that others keep are read at the scrape, each time anew", async () => {
  const metrics = createMetrics();
  let dropped = 3;
  metrics.numbers({ sluice_explanations_dropped_total: () => dropped });
  expect(await metrics.text()).toContain("\nsluice_explanations_dropped_total 3\n");
  dropped = 5;
  const text = await metrics.text();
  expect(text).toContain("# TYPE sluice_explanations_dropped_total counter\nsluice_explanations_dropped_total 5\n");
});

test("two gateways in one process count apart", async () => {
  const one = createMetrics();
  const two = createMetrics();
  one.requestEnd({ route: "chat", status: 200, outcome: "succeeded", totalMs: 1 });
  expect(await two.text()).not.toContain('route="chat"');
});

test("the loop's delay is among the numbers while it is watched", async () => {
  const metrics = createMetrics();
  const clock = new FakeClock();
  const stop = metrics.watchLoop(clock, () => 1);
  expect(await metrics.text()).toContain("\nsluice_event_loop_delay_seconds 0\n");
  stop();
  expect(clock.pending).toBe(0);
});
