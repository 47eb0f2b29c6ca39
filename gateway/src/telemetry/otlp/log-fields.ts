import type { AttributeList } from "./attribute-list.ts";
import { hrTime, type Origin, type SdkLogRecord } from "./sdk-types.ts";
import type { SharedFields } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";
import { spanIdFrom } from "./trace-ids.ts";

/** A record of the log, to be read before the next one is made. */
export interface LogFields {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly observedMs: number;
  readonly level: string;
  /** OpenTelemetry's SeverityNumber. */
  readonly severity: number;
  /** Empty: it has none. */
  readonly body: string;
  /** Of an event; null: it is a line of the log. */
  readonly eventName: string | null;
  /** null: it is of no trace. */
  readonly trace: TraceContext | null;
  /** Whether the spans of that trace are sent. */
  readonly sampled: boolean;
  /** The id of ours that the span's follows from. */
  readonly of: string;
  /** What many records have alike; null: nothing. */
  readonly shared: SharedFields | null;
  readonly own: AttributeList | null;
  /** Any values, as JSON has them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly dropped: number;
  /** Letters of its messages; 0 where it has none. */
  readonly contentLength: number;
}

/** In the form in which OpenTelemetry's own records are exported. */
export function sdkLogRecord({ resource, scope }: Origin, fields: LogFields): SdkLogRecord {
  const { trace, shared, own } = fields;
  const context =
    trace === null
      ? null
      : { traceId: trace.traceId, spanId: spanIdFrom(fields.of), traceFlags: fields.sampled ? 1 : 0 };
  return {
    hrTime: hrTime(fields.atMs),
    hrTimeObserved: hrTime(fields.observedMs),
    ...(context === null ? {} : { spanContext: context }),
    severityText: fields.level,
    severityNumber: fields.severity as NonNullable<SdkLogRecord["severityNumber"]>,
    ...(fields.body === "" ? {} : { body: fields.body }),
    ...(fields.eventName === null ? {} : { eventName: fields.eventName }),
    resource,
    instrumentationScope: scope,
    attributes: { ...shared?.attributes, ...own?.plain(), ...fields.attributes } as SdkLogRecord["attributes"],
    droppedAttributesCount: fields.dropped,
  };
}
