import { keyBytes, ProtobufWriter } from "./protobuf-writer.ts";
import { RequestBytes } from "./request-bytes.ts";
import type { SharedFields, SpanFields, SpanLink } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";
import { spanWordsOf, traceWordsOf } from "./trace-ids.ts";

/** Has the context's HAS_IS_REMOTE bit, IS_REMOTE, and the sampled flag: opentelemetry-proto, SpanFlags. */
const localFlags = 0x101;
const remoteFlags = 0x301;
const attributesField = 9;

/** Spans as they stand in an ExportTraceServiceRequest of opentelemetry-proto; a batch is such a request. */
export class SpanBytes extends RequestBytes {
  readonly #inner = new ProtobufWriter();

  put(span: SpanFields): void {
    this.#write(this.begin(), span);
    this.end();
  }

  #write(out: ProtobufWriter, span: SpanFields): void {
    const { trace, below, failed } = span;
    writeTraceId(out, 1, trace);
    out.words(2, spanWordsOf(span.of));
    if (trace.traceState !== null) out.text(3, trace.traceState);
    if (below !== null) out.words(4, spanWordsOf(below));
    else if (span.parentSpanId !== null) out.hex(4, span.parentSpanId);
    out.nanoseconds(7, span.startMs);
    out.nanoseconds(8, Math.max(span.startMs, span.endMs));
    out.raw(span.shared.written ?? writeShared(span.shared));
    span.own.write(out, attributesField);
    for (const link of span.links) this.#writeLink(out, link);
    if (failed !== null) {
      const status = this.#inner;
      status.clear();
      status.text(2, failed);
      status.tag(3, 0);
      status.varint(2);
      out.message(15, status);
    }
    out.tag(16, 5);
    out.fixed32(below === null && span.parentSpanId !== null ? remoteFlags : localFlags);
  }

  #writeLink(out: ProtobufWriter, { trace, of }: SpanLink): void {
    const link = this.#inner;
    link.clear();
    writeTraceId(link, 1, trace);
    link.words(2, spanWordsOf(of));
    if (trace.traceState !== null) link.text(3, trace.traceState);
    link.tag(6, 5);
    link.fixed32(localFlags);
    out.message(13, link);
  }
}

/** What many spans have alike. */
function writeShared(shared: SharedFields): Uint8Array {
  return shared.write((out) => {
    out.text(5, shared.name);
    out.tag(6, 0);
    // In the protocol 0 is no kind.
    out.varint(shared.kind + 1);
    for (const [name, value] of Object.entries(shared.attributes)) {
      out.attribute(attributesField, keyBytes(name), value);
    }
  });
}

export function writeTraceId(out: ProtobufWriter, field: number, trace: TraceContext): void {
  if (trace.root === null) out.hex(field, trace.traceId);
  else out.words(field, traceWordsOf(trace.root));
}
