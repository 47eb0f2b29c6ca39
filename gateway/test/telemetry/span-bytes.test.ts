import { expect, test } from "bun:test";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import fc from "fast-check";
import type { Origin } from "../../src/telemetry/otlp/sdk-types.ts";
import { SharedAttributes, type SpanFields, sdkSpan } from "../../src/telemetry/otlp/span.ts";
import { SpanBytes } from "../../src/telemetry/otlp/span-bytes.ts";
import { traces } from "./otlp-shapes.ts";
import { readMessage } from "./protobuf.ts";

const origin = {
  resource: { attributes: { "service.name": "slüice" } },
  scope: { name: "sluice", version: "1", schemaUrl: "https://example.com/1" },
} as unknown as Origin;

const hex = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((text) => !/^0+$/.test(text));
const attributes = fc.dictionary(
  fc.string({ unit: "binary", minLength: 1, maxLength: 300 }).filter((name) => name !== "__proto__"),
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.boolean(),
    fc.maxSafeNat(),
    fc.double({ noNaN: true, min: 0, max: Number.MAX_SAFE_INTEGER }),
  ),
  { maxKeys: 12, noNullPrototype: true },
);
const trace = fc.record({
  traceId: hex(32),
  parentSpanId: fc.constant(null),
  parentSampled: fc.constant(null),
  traceState: fc.option(fc.stringMatching(/^[a-z=,]{1,40}$/)),
});
const spans: fc.Arbitrary<SpanFields> = fc
  .record({
    name: fc.string({ unit: "binary", minLength: 1, maxLength: 200 }),
    kind: fc.constantFrom(1, 2),
    trace,
    spanId: hex(16),
    parentSpanId: fc.option(hex(16)),
    parentIsRemote: fc.boolean(),
    startMs: fc.double({ min: 0, max: 4e12, noNaN: true }),
    endMs: fc.double({ min: 0, max: 4e12, noNaN: true }),
    shared: attributes,
    own: attributes,
    failed: fc.option(fc.string({ unit: "binary", minLength: 1, maxLength: 40 })),
    links: fc.array(fc.record({ trace, spanId: hex(16) }), { maxLength: 2 }),
  })
  .map(({ shared, own, ...span }) => {
    // No attribute is said twice.
    for (const name of Object.keys(own)) delete shared[name];
    return { ...span, shared: new SharedAttributes(shared), own };
  });

test("spans are the same bytes of the protocol, field for field, as OpenTelemetry's own writer makes of them", () => {
  const writer = new SpanBytes(origin);
  fc.assert(
    fc.property(fc.array(spans, { minLength: 1, maxLength: 4 }), (some) => {
      const theirs = ProtobufTraceSerializer.serializeRequest(some.map((span) => sdkSpan(origin, span)));
      const read = (bytes: Uint8Array | undefined) => plain(readMessage(bytes ?? new Uint8Array(0), traces));
      expect(read(writer.of(some))).toEqual(read(theirs));
    }),
    { numRuns: 200 },
  );
});

/** A status that is unset, and a list without a member, may be written or left out. */
function plain(message: Record<string, unknown>): unknown {
  return JSON.parse(
    JSON.stringify(message, (name, value: unknown) => {
      if (typeof value === "bigint") return String(value);
      if (name === "status" && (value as { code?: number }).code === 0) return undefined;
      return value;
    }),
  );
}
