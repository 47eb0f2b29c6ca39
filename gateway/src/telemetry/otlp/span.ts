import type { Attributes, HrTime, Origin, SdkSpan } from "./sdk-types.ts";
import { hrTime } from "./sdk-types.ts";
import type { TraceContext } from "./trace-context.ts";

export interface SpanFields {
  readonly name: string;
  /** OpenTelemetry's SpanKind. */
  readonly kind: typeof spanKinds.server | typeof spanKinds.client;
  readonly trace: TraceContext;
  readonly spanId: string;
  /** null: it is the first of its trace. */
  readonly parentSpanId: string | null;
  readonly parentIsRemote: boolean;
  /** Unix milliseconds with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Why it failed; null: it did not. */
  readonly failed: string | null;
  readonly links: SdkSpan["links"];
}

export const spanKinds = { server: 1, client: 2 } as const;

/** A span that is over, in the form in which OpenTelemetry's own are exported. */
export function spanOf(origin: Origin, fields: SpanFields): SdkSpan {
  const { trace, spanId, parentSpanId } = fields;
  const context = contextOf(trace, spanId, false);
  const start = hrTime(fields.startMs);
  return {
    name: fields.name,
    kind: fields.kind,
    spanContext: () => context,
    ...(parentSpanId === null ? {} : { parentSpanContext: contextOf(trace, parentSpanId, fields.parentIsRemote) }),
    startTime: start,
    endTime: fields.endMs > fields.startMs ? hrTime(fields.endMs) : start,
    // StatusCode: 0 unset, 2 error.
    status: fields.failed === null ? unset : { code: 2, message: fields.failed },
    attributes: fields.attributes,
    links: fields.links,
    events: none,
    duration: noTime,
    ended: true,
    resource: origin.resource,
    instrumentationScope: origin.scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** A link to a span elsewhere. */
export function linkTo(trace: TraceContext, spanId: string): SdkSpan["links"][number] {
  return { context: contextOf(trace, spanId, false) };
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

const unset = { code: 0 } as const;
const none: SdkSpan["events"] = [];
/** The exporter sends start and end. */
const noTime: HrTime = [0, 0];
