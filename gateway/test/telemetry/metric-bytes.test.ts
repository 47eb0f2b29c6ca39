import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ExportedMetric } from "../../src/telemetry/otlp/metric-exports.ts";
import { requestAsJson } from "../../src/telemetry/otlp/otlp-json.ts";
import { metricsRequest } from "../../src/telemetry/otlp/request-bytes.ts";
import { origin, read, readJson, theirMetrics } from "./opentelemetry.ts";
import { metrics as shape } from "./otlp-shapes.ts";

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const histogram = fc.array(fc.nat(), { minLength: 1, maxLength: 16 }).map((counts) => ({
  counts,
  boundaries: counts.slice(1).map((_, place) => place + 0.5),
  sum: 1.25,
  count: counts.reduce((sum, one) => sum + one, 0),
}));
const attributes = fc.dictionary(
  text.filter((name) => name !== "__proto__"),
  fc.oneof(text, fc.maxSafeNat()),
  { maxKeys: 4, noNullPrototype: true },
);
const metrics: fc.Arbitrary<ExportedMetric> = fc.constantFrom("counter", "gauge", "histogram").chain((type) =>
  fc.record({
    ...{ name: text, unit: text, help: text, type: fc.constant(type as ExportedMetric["type"]) },
    isDelta: type === "gauge" ? fc.constant(false) : fc.boolean(),
    points: fc.array(fc.record({ labels: attributes, value: type === "histogram" ? histogram : number }), {
      minLength: 1,
      maxLength: 3,
    }),
    startMs: fc.double({ min: 0, max: 4e12, noNaN: true }),
    endMs: fc.double({ min: 0, max: 4e12, noNaN: true }),
  }),
);

test("encodes metrics as OpenTelemetry's own writer does, as protobuf and as JSON", () => {
  fc.assert(
    fc.property(fc.array(metrics, { minLength: 1, maxLength: 4 }), (some) => {
      const request = metricsRequest(origin, some);
      expect(read(request, shape)).toEqual(theirMetrics(some));
      expect(readJson(requestAsJson(request, "metrics"))).toEqual(read(request, shape));
    }),
    { numRuns: 200 },
  );
});
