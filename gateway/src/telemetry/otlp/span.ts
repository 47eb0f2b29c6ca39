import type { AttributeList, Attributes } from "./attribute-list.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";
import type { TraceContext } from "./trace-context.ts";

/** What many spans or records have alike, put together once. */
export class SharedFields {
  readonly attributes: Attributes;
  /** Of spans, as well as OpenTelemetry's SpanKind; empty and 0 of records, which have none. */
  readonly name: string;
  readonly kind: number;
  /** As bytes of the protocol; null: nobody has written them yet. */
  written: Uint8Array | null = null;

  constructor(attributes: Attributes, name = "", kind = 0) {
    this.attributes = attributes;
    this.name = name;
    this.kind = kind;
  }

  write(fill: (out: ProtobufWriter) => void): Uint8Array {
    const writer = new ProtobufWriter();
    fill(writer);
    this.written = writer.taken();
    return this.written;
  }
}

export interface SpanLink {
  readonly trace: TraceContext;
  /** The id of ours that the span's follows from. */
  readonly of: string;
}

/** A span that is over. */
export interface SpanFields {
  readonly trace: TraceContext;
  /** The id of ours that the span's follows from: of an attempt, a request or a task. */
  readonly of: string;
  /** That of the span above it; null: it is none of ours. */
  readonly below: string | null;
  /** The span above it where it is the caller's. */
  readonly parentSpanId: string | null;
  /** Unix milliseconds with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly shared: SharedFields;
  /** To be read at once: it is filled again for the next span. */
  readonly own: AttributeList;
  /** Why it failed; null: it did not. */
  readonly failed: string | null;
  readonly links: readonly SpanLink[];
}

export const spanKinds = { server: 1, client: 2 } as const;
export const noLinks: readonly SpanLink[] = [];
