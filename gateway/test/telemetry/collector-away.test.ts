import { expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { hello, type StartedGateway } from "../started-gateway.ts";
import { Collector } from "./collector.ts";
import { tracedGateway } from "./traced-gateway.ts";

async function metricOf(gateway: StartedGateway, name: string): Promise<number> {
  const text = await (await gateway.get("/metrics")).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

test("an unreachable collector affects neither calls nor the ledger; lost records are counted", async () => {
  const collector = new Collector();
  await collector.stop();
  const gateway = await tracedGateway(collector, {}, { OTEL_EXPORTER_OTLP_TIMEOUT: "1" });
  try {
    for (let call = 0; call < 5; call++) expect((await gateway.chat(hello)).status).toBe(200);
    await until(async () => (await metricOf(gateway, "sluice_otlp_spans_lost_total")) >= 10);
    expect(await gateway.entries()).toHaveLength(5);
  } finally {
    await gateway.stop();
  }
});

test("keeps records up to a bound while the collector does not answer, drops the rest, and sends them later", async () => {
  const collector = new Collector();
  const silence = Promise.withResolvers<void>();
  collector.refusal = async () => {
    await silence.promise;
    return new Response(null, { status: 200 });
  };
  const gateway = await tracedGateway(
    collector,
    {},
    {
      OTEL_BSP_MAX_QUEUE_SIZE: "4",
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
    },
  );
  try {
    await (await gateway.chat(hello)).json();
    await until(() => collector.arrived.length === 1);
    for (let call = 0; call < 10; call++) expect((await gateway.chat(hello)).status).toBe(200);
    collector.refusal = null;
    silence.resolve();
    await until(() => collector.spans.length === 4);
    expect(await metricOf(gateway, "sluice_otlp_spans_lost_total")).toBe(16);
    expect(await gateway.entries()).toHaveLength(11);
  } finally {
    await gateway.stop();
    await collector.stop();
  }
});

test("does not resend records that a collector refused permanently", async () => {
  const collector = new Collector();
  collector.refusal = () => new Response("no such key: s3cr3t", { status: 401 });
  const gateway = await tracedGateway(collector, {}, { OTEL_METRICS_EXPORTER: "none", OTEL_LOGS_EXPORTER: "none" });
  try {
    await (await gateway.chat(hello)).json();
    await until(async () => (await metricOf(gateway, "sluice_otlp_spans_lost_total")) >= 2);
    collector.refusal = null;
    await (await gateway.chat(hello)).json();
  } finally {
    // Sends all that it still has.
    await gateway.stop();
    await collector.stop();
  }
  expect(collector.spans).toHaveLength(2);
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
});

test("sends waiting records at shutdown", async () => {
  const collector = new Collector();
  const gateway = await tracedGateway(collector, {}, { OTEL_BSP_SCHEDULE_DELAY: "3600000" });
  await (await gateway.chat(hello)).json();
  await gateway.stop();
  expect(collector.spans).toHaveLength(2);
  expect(collector.metricExports).toHaveLength(1);
  await collector.stop();
});

test("each process identifies itself, and an operator can add resource attributes", async () => {
  const collector = new Collector();
  const gateway = await tracedGateway(
    collector,
    {},
    {
      OTEL_SERVICE_NAME: "models",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=pro%64uction",
    },
  );
  await (await gateway.chat(hello)).json();
  await gateway.stop();
  expect(collector.spans[0]?.resource).toMatchObject({
    "service.name": "models",
    "deployment.environment.name": "production",
    "service.instance.id": gateway.control.instanceId,
  });
  await collector.stop();
});

test("sampling keeps or drops all spans of a call", async () => {
  const collector = new Collector();
  const gateway = await tracedGateway(
    collector,
    {},
    { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" },
  );
  for (let call = 0; call < 40; call++) await (await gateway.chat(hello)).json();
  await gateway.stop();
  const spans = Map.groupBy(collector.spans, ({ traceId }) => traceId);
  expect([...spans.values()].every((of) => of.length === 2)).toBe(true);
  expect(spans.size).toBeGreaterThan(0);
  expect(spans.size).toBeLessThan(40);
  await collector.stop();
});
