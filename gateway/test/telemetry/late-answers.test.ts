import { expect, test } from "bun:test";
import { readEnvironment } from "#config/index.ts";
import { Failure } from "#core/index.ts";
import type { OutboundRequest } from "#ports/index.ts";
import { openOtlp } from "#telemetry/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../fake-clock.ts";
import { transportOf } from "../sending-transport.ts";

test.each([
  ["unsent", 10],
  ["unknown", 7],
] as const)("deltas of a failed export (%s) are resent only if it was not sent", async (arrival, sum) => {
  const { otlp: settings } = readEnvironment({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta",
    OTEL_TRACES_EXPORTER: "none",
    OTEL_LOGS_EXPORTER: "none",
    OTEL_EXPORTER_OTLP_TIMEOUT: "1",
  });
  if (settings === null) throw new Error("nothing is sent");
  const clock = new FakeClock();
  const sums: number[] = [];
  const send = async ({ body }: OutboundRequest): Promise<never> => {
    const [metric] = JSON.parse(new TextDecoder().decode(body as Uint8Array)).resourceMetrics[0].scopeMetrics[0]
      .metrics;
    sums.push(metric.sum.dataPoints[0].asDouble);
    throw new Failure("upstream_timeout", "It does not answer.").with({ arrival });
  };
  let count = 3;
  const points = () => [{ labels: {}, value: count }];
  const exported = await openOtlp({
    ...{ settings, clock, transport: transportOf(send), version: "1", instanceId: "proc_1", upstreamOf: () => null },
    report: async () => [{ name: "sluice_x_total", help: "x", type: "counter", points: points() }],
  });
  clock.advance(settings.metrics?.intervalMs ?? 0);
  await until(() => sums.length === 1 && clock.pending > 0);
  count = 10;
  await exported.close();
  expect(sums).toEqual([3, sum]);
});
