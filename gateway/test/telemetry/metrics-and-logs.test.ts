import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { hello, type StartedGateway } from "../started-gateway.ts";
import { type CollectedPoint, Collector } from "./collector.ts";
import { tracedGateway } from "./traced-gateway.ts";

const variants = [
  { title: "protobuf, cumulative", isDelta: false, variables: {} },
  {
    title: "JSON in gzip, delta, old names too",
    isDelta: true,
    variables: {
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta",
      OTEL_SEMCONV_STABILITY_OPT_IN: "http,gen_ai/dup,gen_ai_cost",
    },
  },
] as const;

for (const { title, isDelta, variables } of variants) {
  const collector = new Collector();
  let gateway: StartedGateway;
  beforeAll(async () => {
    gateway = await tracedGateway(
      collector,
      { environment: { logLevel: "info" } },
      {
        OTEL_METRIC_EXPORT_INTERVAL: "100",
        OTEL_EXPORTER_OTLP_HEADERS: "x-team=search%20us,api-key=s3cr3t",
        ...variables,
      },
    );
    for (const stream of [false, true, false]) await (await gateway.chat({ ...hello, stream })).text();
    await (await gateway.chat(hello, { script: { status: 500 } })).text();
  });
  afterAll(async () => {
    await gateway.stop();
    await collector.stop();
  });

  /** The current total of a metric, from all exports. */
  function total(name: string, of: (point: CollectedPoint) => number, fits: Record<string, unknown> = {}): number {
    const sum = (points: readonly CollectedPoint[]): number =>
      points
        .filter(
          (point) =>
            point.name === name && Object.entries(fits).every(([key, value]) => point.attributes[key] === value),
        )
        .reduce((all, point) => all + of(point), 0);
    return isDelta
      ? collector.metricExports.reduce((all, points) => all + sum(points), 0)
      : sum(collector.metricExports.at(-1) ?? []);
  }

  test(`${title}: tokens, attempts and cost equal the ledger's`, async () => {
    const entries = await gateway.entries();
    const wanted = (of: (entry: (typeof entries)[number]) => number): number =>
      entries.reduce((all, entry) => all + of(entry), 0);
    const attempts = entries.length;
    const value = (point: CollectedPoint): number => point.value;
    // A request ends after its attempt, once its answer was sent, and may be in a later export.
    await until(
      () =>
        total("gen_ai.client.inference.duration", ({ count }) => count) === attempts &&
        total("sluice_requests_total", value, { route: "chat" }) >= 4,
    );
    expect(total("gen_ai.client.inference.usage.input_tokens", value)).toBe(wanted(({ usage }) => usage.inputUncached));
    expect(total("gen_ai.client.inference.usage.output_tokens", value)).toBe(wanted(({ usage }) => usage.output));
    expect(total("gen_ai.client.inference.operation.output_tokens", value)).toBe(wanted(({ usage }) => usage.output));
    expect(total("gen_ai.client.inference.time_to_first_chunk", ({ count }) => count)).toBe(1);
    expect(total("gen_ai.server.time_to_first_token", ({ count }) => count)).toBe(1);
    expect(total("gen_ai.client.inference.duration", value)).toBeCloseTo(wanted(({ totalMs }) => totalMs) / 1_000, 6);
    const failed = entries.filter(({ outcome }) => outcome === "failed");
    expect(failed.length).toBeGreaterThan(0);
    const errors = { "error.type": failed[0]?.errorCode };
    expect(total("gen_ai.client.inference.duration", ({ count }) => count, errors)).toBe(failed.length);
    expect(total("sluice_cost_usd_total", value, { model: "gpt-test" })).toBeCloseTo(
      wanted(({ costNanoUsd }) => costNanoUsd) / 1e9,
      12,
    );
    expect(total("sluice_requests_total", value, { route: "chat" })).toBe(4);
  });

  test(`${title}: histograms have one more bucket than boundaries, and counters have their temporality`, async () => {
    const points = await until(() =>
      collector.metricExports.flat().find(({ name }) => name === "sluice_request_duration_seconds"),
    );
    expect(points.buckets).toHaveLength(points.boundaries.length + 1);
    expect(points.buckets.reduce((all, count) => all + count, 0)).toBe(points.count);
    const kinds = collector.metricExports.flat().filter(({ kind }) => kind !== "gauge");
    expect(new Set(kinds.map(({ temporality }) => temporality))).toEqual(new Set([isDelta ? 1 : 2]));
  });

  test(`${title}: old names are exported next to the new ones if enabled`, async () => {
    await until(() => total("gen_ai.client.inference.duration", ({ count }) => count) > 0);
    const old = total("gen_ai.client.token.usage", ({ count }) => count, { "gen_ai.token.type": "output" });
    expect(old > 0).toBe(isDelta);
    const attempt = await until(() =>
      collector.spans.find(({ attributes }) => attributes["sluice.outcome"] === "succeeded"),
    );
    expect(attempt.attributes["gen_ai.system"]).toBe(isDelta ? "openai-compatible" : undefined);
    expect(attempt.attributes["gen_ai.usage.cost.amount"]).toBe(
      isDelta ? attempt.attributes["sluice.cost.usd"] : undefined,
    );
  });

  test(`${title}: log lines have the trace of their request`, async () => {
    const line = await until(() =>
      collector.logs.find(({ body, attributes }) => body === "request" && attributes["route"] === "chat"),
    );
    const call = await until(() =>
      collector.spansOf(String(line.attributes["requestId"])).find(({ kind }) => kind === 2),
    );
    expect([line.traceId, line.spanId, line.severity]).toEqual([call.traceId, call.spanId, 9]);
    const failure = await until(() => collector.logs.find(({ body }) => body === "attempt failed"));
    expect([failure.severity, failure.traceId.length]).toEqual([13, 32]);
  });

  test(`${title}: every export sends the configured headers, which appear nowhere else`, async () => {
    await until(() => new Set(collector.arrived.map(({ path }) => path)).size === 3);
    for (const { headers } of collector.arrived) {
      expect([headers.get("x-team"), headers.get("api-key")]).toEqual(["search us", "s3cr3t"]);
      expect(headers.get("content-encoding")).toBe(isDelta ? "gzip" : null);
    }
    expect(JSON.stringify([collector.spans, collector.logs, collector.metricExports])).not.toContain("s3cr3t");
  });
}
