import type { AttributeName, AttributeValue } from "./attribute-list.ts";
import { keyBytes, ProtobufWriter, varintSize } from "./protobuf-writer.ts";
import type { Origin } from "./sdk-types.ts";
import type { SharedAttributes, SpanFields, SpanLink } from "./span.ts";
import type { SpanRow } from "./span-store.ts";
import type { TraceContext } from "./trace-context.ts";
import { spanWordsOf, traceWordsOf } from "./trace-ids.ts";

/** Has the context's HAS_IS_REMOTE bit, IS_REMOTE, and the sampled flag: opentelemetry-proto, SpanFlags. */
const localFlags = 0x101;
const remoteFlags = 0x301;
const attributesField = 9;

/** Spans as they stand in an ExportTraceServiceRequest of opentelemetry-proto; a batch is such a request. */
export class SpanBytes implements SpanRow<Uint8Array> {
  readonly #origin: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #schemaUrl: string;
  readonly #span = new ProtobufWriter();
  readonly #inner = new ProtobufWriter();
  readonly #waiting = new ProtobufWriter();
  /** Where each of them ends. */
  #ends: number[] = [];
  readonly #writeOwn = (name: AttributeName, value: AttributeValue): void =>
    this.#span.attribute(attributesField, name.bytes, value);

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

  get size(): number {
    return this.#ends.length;
  }

  get bytes(): number {
    return this.#waiting.length;
  }

  fitting(bytesMax: number): number {
    const ends = this.#ends;
    let count = ends.length;
    while (count > 1 && (ends[count - 1] ?? 0) > bytesMax) count--;
    return count;
  }

  put(span: SpanFields): void {
    this.#write(span);
    this.#waiting.message(2, this.#span);
    this.#ends.push(this.#waiting.length);
  }

  take(size: number): Uint8Array {
    const spans = this.#waiting;
    const end = this.#ends[size - 1] ?? 0;
    const schema = this.#inner;
    schema.clear();
    if (this.#schemaUrl !== "") schema.text(3, this.#schemaUrl);
    const scopeSpans = this.#scope.length + end + schema.length;
    const request = this.#span;
    request.clear();
    request.open(1, this.#origin.length + 1 + varintSize(scopeSpans) + scopeSpans);
    request.raw(this.#origin);
    request.open(2, scopeSpans);
    request.raw(this.#scope);
    request.piece(spans, end);
    request.piece(schema, schema.length);
    spans.drop(end);
    this.#ends = this.#ends.slice(size).map((at) => at - end);
    return request.taken();
  }

  #write(span: SpanFields): void {
    const out = this.#span;
    const { trace, below, failed } = span;
    out.clear();
    writeTraceId(out, trace);
    out.words(2, spanWordsOf(span.of));
    if (trace.traceState !== null) out.text(3, trace.traceState);
    if (below !== null) out.words(4, spanWordsOf(below));
    else if (span.parentSpanId !== null) out.hex(4, span.parentSpanId);
    out.text(5, span.name);
    out.tag(6, 0);
    // In the protocol 0 is no kind.
    out.varint(span.kind + 1);
    out.tag(7, 1);
    out.nanoseconds(span.startMs);
    out.tag(8, 1);
    out.nanoseconds(Math.max(span.startMs, span.endMs));
    out.raw(this.#bytesOf(span.shared));
    span.own.each(this.#writeOwn);
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
    out.fixed32(below === null ? remoteFlags : localFlags);
  }

  #writeLink({ trace, of }: SpanLink): void {
    const link = this.#inner;
    link.clear();
    writeTraceId(link, trace);
    link.words(2, spanWordsOf(of));
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
      writer.attribute(attributesField, keyBytes(name), value);
    shared.bytes = writer.taken();
    return shared.bytes;
  }
}

function writeTraceId(out: ProtobufWriter, trace: TraceContext): void {
  if (trace.root === null) out.hex(1, trace.traceId);
  else out.words(1, traceWordsOf(trace.root));
}
