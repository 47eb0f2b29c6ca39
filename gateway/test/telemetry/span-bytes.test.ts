import { expect, test } from "bun:test";
import fc from "fast-check";
import { requestAsJson } from "../../src/telemetry/otlp/otlp-json.ts";
import { AttributeList, SharedFields, type SpanFields } from "../../src/telemetry/otlp/record-fields.ts";
import { SpanBytes } from "../../src/telemetry/otlp/request-bytes.ts";
import { spanIdFrom } from "../../src/telemetry/otlp/traces.ts";
import { origin, read, readJson, theirSpans } from "./opentelemetry.ts";
import { traces } from "./otlp-shapes.ts";
import { readMessage } from "./protobuf.ts";

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
  sourceId: fc.constant(null),
  parentSpanId: fc.constant(null),
  parentSampled: fc.constant(null),
  traceState: fc.option(fc.stringMatching(/^[a-z=,]{1,40}$/)),
});
const spans: fc.Arbitrary<SpanFields> = fc
  .record({
    name: fc.string({ unit: "binary", minLength: 1, maxLength: 200 }),
    kind: fc.constantFrom(1, 2),
    trace,
    sourceId: fc.oneof(fc.string(), fc.stringMatching(/^att_[0-9A-HJKMNP-TV-Z]{26}$/)),
    parentSourceId: fc.option(fc.string()),
    parentSpanId: fc.option(hex(16)),
    startMs: fc.double({ min: 0, max: 4e12, noNaN: true }),
    endMs: fc.double({ min: 0, max: 4e12, noNaN: true }),
    shared: attributes,
    own: attributes,
    failure: fc.option(fc.string({ unit: "binary", minLength: 1, maxLength: 40 })),
    links: fc.array(fc.record({ trace, sourceId: fc.string() }), { maxLength: 2 }),
  })
  .map(({ shared, own, name, kind, ...span }) => {
    // No attribute is in both lists.
    for (const name of Object.keys(own)) delete shared[name];
    const list = new AttributeList();
    for (const [name, value] of Object.entries(own)) list.add(name, value);
    return { ...span, shared: new SharedFields(shared, name, kind), own: list };
  });

test("encodes spans as OpenTelemetry's own writer does, as protobuf and as JSON", () => {
  const writer = new SpanBytes(origin);
  fc.assert(
    fc.property(fc.array(spans, { minLength: 1, maxLength: 4 }), (some) => {
      for (const span of some) writer.put(span);
      const request = writer.take(some.length);
      expect(read(request, traces)).toEqual(theirSpans(some));
      expect(readJson(requestAsJson(request, "traces"))).toEqual(read(request, traces));
    }),
    { numRuns: 200 },
  );
});

test("keeps spans in order over several batches, each once", () => {
  const writer = new SpanBytes(origin);
  fc.assert(
    fc.property(fc.array(spans, { minLength: 2, maxLength: 6 }), fc.nat(), (some, chosen) => {
      const first = 1 + (chosen % (some.length - 1));
      for (const span of some.slice(0, -1)) writer.put(span);
      const before = writer.take(first);
      for (const span of some.slice(-1)) writer.put(span);
      const batches = [before, ...(writer.size > 0 ? [writer.take(writer.size)] : [])];
      const ids = batches.flatMap((batch) => [...idsIn(batch)]);
      expect(ids).toEqual(some.map(({ sourceId }) => spanIdFrom(sourceId)));
      expect(writer.size).toBe(0);
    }),
  );
});

test("does not overwrite a request until it was sent", () => {
  const writer = new SpanBytes(origin);
  fc.assert(
    fc.property(fc.array(spans, { minLength: 4, maxLength: 4 }), ([first, second, third, fourth]) => {
      for (const span of [first, second, third]) if (span !== undefined) writer.put(span);
      const before = writer.take(2);
      const copy = before.slice();
      if (fourth !== undefined) writer.put(fourth);
      expect(before).toEqual(copy);
      writer.reuse();
      const ids = [first, second, third, fourth].map((span) => spanIdFrom(span?.sourceId ?? ""));
      expect([...idsIn(copy), ...idsIn(writer.take(1)), ...idsIn(writer.take(1))]).toEqual(ids);
      writer.reuse();
    }),
  );
});

function idsIn(batch: Uint8Array): readonly string[] {
  const { resourceSpans } = readMessage(batch, traces) as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: { spanId: string }[] }[] }[];
  };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    .map(({ spanId }) => spanId);
}
