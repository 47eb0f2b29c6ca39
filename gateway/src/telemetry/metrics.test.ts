import { expect, test } from "bun:test";
import { bounds, noUsage } from "#core/index.ts";
import { ledgerEntry } from "../../test/conformance/store-fixture.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { type BreakerNumber, createMetrics } from "./index.ts";

test("counts an attempt by provider, model, outcome and error, with tokens, cost and times", async () => {
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

test("charges the usage of another model, but does not count it as an attempt", async () => {
  const metrics = createMetrics();
  metrics.attemptEnd(ledgerEntry("1"));
  metrics.attemptEnd(ledgerEntry("2", { calls: 0 }));
  const lines = (await metrics.text()).split("\n");
  const labels = 'provider="openai-main",model="gpt-5"';
  expect(lines).toContain(`sluice_attempts_total{${labels},outcome="succeeded",error="",cause=""} 1`);
  expect(lines).toContain('sluice_tokens_total{model="gpt-5",class="input_uncached"} 200');
});

test("counts usage without a price", async () => {
  const metrics = createMetrics();
  metrics.attemptEnd(ledgerEntry("1"));
  metrics.attemptEnd(ledgerEntry("2", { priceVersion: null, costNanoUsd: 0 }));
  metrics.attemptEnd(ledgerEntry("3", { priceVersion: null, costNanoUsd: 0, usage: noUsage }));
  expect((await metrics.text()).split("\n")).toContain('sluice_unpriced_attempts_total{model="gpt-5"} 1');
});

test("reports the running version", async () => {
  expect(await createMetrics({ version: "1.2.3" }).text()).toContain(
    'sluice_build_info{version="1.2.3",revision="unknown",runtime="bun ',
  );
});

test("counts requests and reloads", async () => {
  const metrics = createMetrics();
  metrics.requestEnd({ route: "chat", status: 200, outcome: "succeeded", totalMs: 40 });
  metrics.requestEnd({ route: "chat", status: 429, outcome: "refused", totalMs: 1 });
  metrics.configReload("refused");
  const lines = (await metrics.text()).split("\n");
  expect(lines).toContain('sluice_requests_total{route="chat",status="429",outcome="refused"} 1');
  expect(lines).toContain('sluice_request_duration_seconds_bucket{le="0.1",route="chat"} 2');
  expect(lines).toContain('sluice_config_reloads_total{result="refused"} 1');
});

test("a result starts at 0, because Prometheus does not see a new series as growth", async () => {
  const lines = (await createMetrics().text()).split("\n");
  expect(lines.filter((line) => line.startsWith("sluice_config_reloads_total"))).toEqual([
    'sluice_config_reloads_total{result="applied"} 0',
    'sluice_config_reloads_total{result="unchanged"} 0',
    'sluice_config_reloads_total{result="refused"} 0',
  ]);
});

test("reports breakers with their names, the worst state first, until their deployment is removed", async () => {
  const metrics = createMetrics();
  let breakers: readonly BreakerNumber[] = [
    { deployment: "dep_1", provider: "azure", model: "gpt", breaker: "closed" },
    { deployment: "dep_2", provider: "openai", model: "gpt", breaker: "open" },
  ];
  metrics.breakers(() => breakers);
  const series = async (): Promise<readonly string[]> =>
    (await metrics.text()).split("\n").filter((line) => line.startsWith("sluice_breaker_state"));
  expect(await series()).toEqual([
    'sluice_breaker_state{deployment="dep_2",provider="openai",model="gpt"} 2',
    'sluice_breaker_state{deployment="dep_1",provider="azure",model="gpt"} 0',
  ]);
  breakers = breakers.slice(0, 1);
  expect(await series()).toHaveLength(1);
});

test("a model name that a caller made up never becomes a label", async () => {
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

test("counts pairs of provider and model beyond the bound as other", async () => {
  const metrics = createMetrics();
  for (let i = 0; i < bounds.metricPairsMax + 50; i++)
    metrics.attemptEnd(ledgerEntry("1", { model: `m-${i}`, usage: noUsage }));
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("sluice_attempts_total{"));
  expect(lines).toHaveLength(bounds.metricPairsMax + 1);
  expect(lines).toContain(
    'sluice_attempts_total{provider="other",model="other",outcome="succeeded",error="",cause=""} 50',
  );
});

test("reads gauges at the scrape; one that fails does not affect others", async () => {
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

test("reads external counts at each scrape", async () => {
  const metrics = createMetrics();
  let dropped = 3;
  metrics.numbers({ sluice_explanations_dropped_total: () => dropped });
  expect(await metrics.text()).toContain("\nsluice_explanations_dropped_total 3\n");
  dropped = 5;
  const text = await metrics.text();
  expect(text).toContain("# TYPE sluice_explanations_dropped_total counter\nsluice_explanations_dropped_total 5\n");
});

test("two gateways in one process count separately", async () => {
  const one = createMetrics();
  const two = createMetrics();
  one.requestEnd({ route: "chat", status: 200, outcome: "succeeded", totalMs: 1 });
  expect(await two.text()).not.toContain('route="chat"');
});

test("reports the loop delay while it is measured", async () => {
  const metrics = createMetrics();
  const clock = new FakeClock();
  const stop = metrics.watchLoop(clock, () => 1);
  expect(await metrics.text()).toContain("\nsluice_event_loop_delay_seconds 0\n");
  stop();
  expect(clock.pending).toBe(0);
});

test("keeps the last values of what is read from the database while it is down", async () => {
  const metrics = createMetrics();
  const clock = new FakeClock();
  let ratio: number | null = 0.25;
  let answers: Promise<void> | null = null;
  metrics.billDifferences(clock, async () => {
    await answers;
    if (ratio === null) throw new Error("the database is down");
    return [{ provider: "main", ratio }];
  });
  const line = async () => /^sluice_bill_difference_ratio.*$/m.exec(await metrics.text())?.[0];
  expect(await line()).toBe('sluice_bill_difference_ratio{provider="main"} 0.25');
  ratio = null;
  expect(await line()).toBe('sluice_bill_difference_ratio{provider="main"} 0.25');
  ratio = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  answers = promise;
  const late = line();
  clock.advance(1_000);
  expect(await late).toBe('sluice_bill_difference_ratio{provider="main"} 0.25');
  resolve();
  expect(await line()).toBe('sluice_bill_difference_ratio{provider="main"} 0');
  expect(clock.pending).toBe(0);
});
