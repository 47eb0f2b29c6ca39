import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { readEnvironment } from "./environment.ts";
import { readOtlp } from "./otlp-settings.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example.com/otlp/" };

test("exports nothing without an endpoint or exporter", () => {
  expect(readOtlp({ OTEL_SERVICE_NAME: "x", OTEL_TRACES_SAMPLER: "always_on" }, null)).toEqual({
    settings: null,
    warnings: [],
  });
  expect(readOtlp({ ...endpoint, OTEL_SDK_DISABLED: "True" }, null).settings).toBeNull();
  const { settings } = readOtlp({ OTEL_TRACES_EXPORTER: "otlp" }, null);
  expect([settings?.traces?.url, settings?.metrics, settings?.logs]).toEqual([
    "http://localhost:4318/v1/traces",
    null,
    null,
  ]);
});

test("uses one endpoint for all signals, a signal's own endpoint unchanged, and no export for `none`", () => {
  const { settings } = readOtlp(
    { ...endpoint, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "http://logs:4318/in", OTEL_METRICS_EXPORTER: "none" },
    null,
  );
  expect(settings?.traces?.url).toBe("https://otel.example.com/otlp/v1/traces");
  expect(settings?.logs?.url).toBe("http://logs:4318/in");
  expect(settings?.metrics).toBeNull();
});

test("appends a signal's path before the endpoint's query", () => {
  const of = (address: string) => readOtlp({ OTEL_EXPORTER_OTLP_ENDPOINT: address }, null).settings?.logs?.url;
  expect(of("https://otel.example.com/in/?team=a/b")).toBe("https://otel.example.com/in/v1/logs?team=a/b");
  expect(of("https://otel.example.com?key=1#x")).toBe("https://otel.example.com/v1/logs?key=1");
});

test("sends no metrics for the exporter prometheus alone, and sends them with otlp too", () => {
  const of = (said: string) => readOtlp({ ...endpoint, OTEL_METRICS_EXPORTER: said }, null);
  expect(of("prometheus").settings?.metrics).toBeNull();
  expect(of("prometheus").settings?.traces).not.toBeNull();
  expect(of("otlp,prometheus").settings?.metrics).not.toBeNull();
  expect([of("prometheus"), of("otlp,prometheus")].flatMap(({ warnings }) => warnings)).toEqual([]);
});

test("uses SLUICE_OTLP_ENDPOINT unless OTEL_EXPORTER_OTLP_ENDPOINT is set", () => {
  const own = { SLUICE_OTLP_ENDPOINT: "http://own:4318" };
  expect(readEnvironment(own).otlp?.traces?.url).toBe("http://own:4318/v1/traces");
  expect(readEnvironment({ ...own, ...endpoint }).otlp?.traces?.url).toBe("https://otel.example.com/otlp/v1/traces");
});

test("uses the specification's defaults", () => {
  expect(readOtlp(endpoint, null).settings).toMatchObject({
    traces: {
      protocol: "http/protobuf",
      compression: "none",
      timeoutMs: 10_000,
      headers: null,
      batch: { delayMs: 5_000, timeoutMs: 30_000, queueMax: 2_048, batchMax: 512 },
      sampler: { parentBased: true, ratio: 1 },
    },
    metrics: { intervalMs: 60_000, temporality: "cumulative" },
    logs: { batch: { delayMs: 1_000 } },
    resource: { "service.name": "sluice" },
    propagates: true,
    oldNames: false,
    costNames: false,
  });
});

test("prefers a signal's own settings, and reads the sampler's argument", () => {
  const { settings, warnings } = readOtlp(
    {
      ...endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "api-key=one",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=two",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_PROPAGATORS: "none",
    },
    null,
  );
  expect(warnings).toEqual([]);
  expect([settings?.traces?.protocol, settings?.logs?.protocol]).toEqual(["http/protobuf", "http/json"]);
  expect([settings?.traces?.compression, settings?.traces?.timeoutMs]).toEqual(["gzip", 2_000]);
  expect([settings?.traces?.headers?.reveal(), settings?.logs?.headers?.reveal()]).toEqual([
    "api-key=one",
    "api-key=two",
  ]);
  expect(settings?.traces?.sampler).toEqual({ parentBased: true, ratio: 0.25 });
  expect(settings?.propagates).toBe(false);
});

const wrong: readonly (readonly [name: string, value: string, says: string])[] = [
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "ignored"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "smoke", "ignored"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "s3cr3t", "ignored"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=%zz", "ignored"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%0Ab", "ignored"],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "ignored"],
  ["OTEL_EXPORTER_OTLP_COMPRESSION", "zip", "ignored"],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318", "ignored"],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://user:s3cr3t@collector", "ignored"],
  ["OTEL_TRACES_EXPORTER", "console", "otlp and none"],
  ["OTEL_TRACES_SAMPLER", "sometimes", "ignored"],
  ["OTEL_BSP_MAX_QUEUE_SIZE", "-1", "ignored"],
  ["OTEL_RESOURCE_ATTRIBUTES", "team", "ignored"],
  ["OTEL_PROPAGATORS", "b3", "tracecontext"],
  ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "yes", "ignored"],
  ["OTEL_SDK_DISABLED", "yes", "false"],
];
for (const [name, value, says] of wrong) {
  test(`${name}=${value} is ignored with one warning, without its value`, () => {
    const { otlp, warnings } = readEnvironment({ ...endpoint, [name]: value });
    expect(otlp?.traces?.url).toBe("https://otel.example.com/otlp/v1/traces");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toStartWith(`${name} `);
    expect(warnings[0]).toContain(says);
    expect(warnings[0]).not.toContain("s3cr3t");
  });
}

test("uses 1 for an invalid ratio, with a warning", () => {
  const { settings, warnings } = readOtlp(
    { ...endpoint, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "half" },
    null,
  );
  expect([settings?.traces?.sampler.ratio, warnings.length]).toEqual([1, 1]);
});

test("hides headers when the settings are printed", () => {
  const { settings } = readOtlp({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "api-key=s3cr3t" }, null);
  expect(inspect(settings, { depth: 9 }) + JSON.stringify(settings)).not.toContain("s3cr3t");
});

test("exports content only for the documented values", () => {
  const of = (said: string) =>
    readOtlp({ ...endpoint, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: said }, null).settings;
  const inSpans = (said: string) => of(said)?.traces?.content;
  const inEvents = (said: string) => of(said)?.logs?.content;
  expect(["SPAN_ONLY", "span_and_event", "true"].map(inSpans)).toEqual([true, true, true]);
  expect(["", "no_content", "event_only", "false", "yes", "1"].map(inSpans)).toEqual(Array(6).fill(false));
  expect(["event_only", "span_and_event"].map(inEvents)).toEqual([true, true]);
  expect(["", "no_content", "span_only", "true", "false", "1"].map(inEvents)).toEqual(Array(6).fill(false));
});
