import { keyBytes, ProtobufWriter } from "./protobuf-writer.ts";
import type { Origin } from "./sdk-types.ts";
import type { SharedAttributes, SpanFields, SpanLink } from "./span.ts";

/** Has the context's HAS_IS_REMOTE bit, IS_REMOTE, and the sampled flag: opentelemetry-proto, SpanFlags. */
const localFlags = 0x101;
const remoteFlags = 0x301;
const attributesField = 9;

/** Writes spans as an ExportTraceServiceRequest of opentelemetry-proto. */
export class SpanBytes {
  readonly #origin: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #schemaUrl: string;
  readonly #keys = new Map<string, Uint8Array>();
  readonly #span = new ProtobufWriter();
  readonly #inner = new ProtobufWriter();
  readonly #spans = new ProtobufWriter();

  constructor({ resource, scope }: Origin) {
    const writer = new ProtobufWriter();
    const inner = new ProtobufWriter();
    for (const [name, value] of Object.entries(resource.attributes)) writer.attribute(1, keyBytes(name), String(value));
    inner.message(1, writer);
    this.#origin = inner.taken();
    writer.clear();
    inner.clear();
    writer.text(1, scope.name);
    writer.text(2, scope.version ?? "");
    inner.message(1, writer);
    this.#scope = inner.taken();
    this.#schemaUrl = scope.schemaUrl ?? "";
  }

  of(spans: readonly SpanFields[]): Uint8Array {
    const out = this.#spans;
    out.clear();
    out.raw(this.#scope);
    for (const span of spans) {
      this.#write(span);
      out.message(2, this.#span);
    }
    if (this.#schemaUrl !== "") out.text(3, this.#schemaUrl);
    const resourceSpans = this.#span;
    resourceSpans.clear();
    resourceSpans.raw(this.#origin);
    resourceSpans.message(2, out);
    out.clear();
    out.message(1, resourceSpans);
    return out.taken();
  }

  #write(span: SpanFields): void {
    const out = this.#span;
    const { trace, parentSpanId, failed } = span;
    out.clear();
    out.hex(1, trace.traceId);
    out.hex(2, span.spanId);
    if (trace.traceState !== null) out.text(3, trace.traceState);
    if (parentSpanId !== null) out.hex(4, parentSpanId);
    out.text(5, span.name);
    out.tag(6, 0);
    // In the protocol 0 is no kind.
    out.varint(span.kind + 1);
    out.tag(7, 1);
    out.nanoseconds(span.startMs);
    out.tag(8, 1);
    out.nanoseconds(Math.max(span.startMs, span.endMs));
    out.raw(this.#bytesOf(span.shared));
    const { own } = span;
    for (const name in own) out.attribute(attributesField, this.#keyOf(name), own[name] as string | number | boolean);
    for (const link of span.links) this.#writeLink(link);
    if (failed !== null) {
      const status = this.#inner;
      status.clear();
      status.text(2, failed);
      status.tag(3, 0);
      status.varint(2);
      out.message(15, status);
    }
    out.tag(16, 5);
    out.fixed32(span.parentIsRemote ? remoteFlags : localFlags);
  }

  #writeLink({ trace, spanId }: SpanLink): void {
    const link = this.#inner;
    link.clear();
    link.hex(1, trace.traceId);
    link.hex(2, spanId);
    if (trace.traceState !== null) link.text(3, trace.traceState);
    link.tag(6, 5);
    link.fixed32(localFlags);
    this.#span.message(13, link);
  }

  /** What many spans have alike is written once. */
  #bytesOf(shared: SharedAttributes): Uint8Array {
    if (shared.bytes !== null) return shared.bytes;
    const writer = new ProtobufWriter();
    for (const [name, value] of Object.entries(shared.attributes))
      writer.attribute(attributesField, this.#keyOf(name), value);
    shared.bytes = writer.taken();
    return shared.bytes;
  }

  #keyOf(name: string): Uint8Array {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const bytes = keyBytes(name);
    // Names of tags are the callers'.
    if (!name.startsWith("sluice.tag.")) this.#keys.set(name, bytes);
    return bytes;
  }
}
