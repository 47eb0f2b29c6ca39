import type { AttributeList } from "./attribute-list.ts";
import { keyBytes, ProtobufWriter } from "./protobuf-writer.ts";
import { type Attributes, type HrTime, hrTime, type Origin, type SdkSpan } from "./sdk-types.ts";
import type { TraceContext } from "./trace-context.ts";
import { spanIdFrom } from "./trace-ids.ts";

/** Attributes that many spans have alike, put together once. */
export class SharedAttributes {
  readonly attributes: Attributes;
  #bytes: Uint8Array | null = null;

  constructor(attributes: Attributes) {
    this.attributes = attributes;
  }

  /** As bytes, written once. `field`: the same each time. */
  bytesFor(field: number): Uint8Array {
    if (this.#bytes !== null) return this.#bytes;
    const writer = new ProtobufWriter();
    for (const [name, value] of Object.entries(this.attributes)) writer.attribute(field, keyBytes(name), value);
    this.#bytes = writer.taken();
    return this.#bytes;
  }
}

export interface SpanLink {
  readonly trace: TraceContext;
  /** The id of ours that the span's follows from. */
  readonly of: string;
}

/** A span that is over. */
export interface SpanFields {
  readonly name: string;
  /** OpenTelemetry's SpanKind. */
  readonly kind: number;
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
  readonly shared: SharedAttributes;
  /** To be read at once: it is filled again for the next span. */
  readonly own: AttributeList;
  /** Why it failed; null: it did not. */
  readonly failed: string | null;
  readonly links: readonly SpanLink[];
}

export const spanKinds = { server: 1, client: 2 } as const;
export const noLinks: readonly SpanLink[] = [];

/** In the form in which OpenTelemetry's own spans are exported. */
export function sdkSpan(origin: Origin, fields: SpanFields): SdkSpan {
  const { trace, below } = fields;
  const context = contextOf(trace, spanIdFrom(fields.of), false);
  const parentSpanId = below === null ? fields.parentSpanId : spanIdFrom(below);
  return {
    name: fields.name,
    kind: fields.kind,
    spanContext: () => context,
    ...(parentSpanId === null ? {} : { parentSpanContext: contextOf(trace, parentSpanId, below === null) }),
    startTime: hrTime(fields.startMs),
    endTime: hrTime(Math.max(fields.startMs, fields.endMs)),
    // StatusCode: 0 unset, 2 error.
    status: fields.failed === null ? { code: 0 } : { code: 2, message: fields.failed },
    attributes: { ...fields.shared.attributes, ...fields.own.plain() },
    links: fields.links.map((link) => ({ context: contextOf(link.trace, spanIdFrom(link.of), false) })),
    events: [],
    duration: noTime,
    ended: true,
    resource: origin.resource,
    instrumentationScope: origin.scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf(trace: TraceContext, spanId: string, isRemote: boolean): ReturnType<SdkSpan["spanContext"]> {
  const { traceState } = trace;
  return {
    traceId: trace.traceId,
    spanId,
    traceFlags: 1,
    isRemote,
    ...(traceState === null ? {} : { traceState: { serialize: () => traceState } as never }),
  };
}

/** The exporter sends start and end. */
const noTime: HrTime = [0, 0];
