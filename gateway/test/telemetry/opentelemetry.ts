import {
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import type { ExportedMetric } from "../../src/telemetry/otlp/metric-exports.ts";
import type { LogFields, SpanFields } from "../../src/telemetry/otlp/record-fields.ts";
import type { Origin } from "../../src/telemetry/otlp/request-bytes.ts";
import type { TraceContext } from "../../src/telemetry/otlp/traces.ts";
import { spanIdFrom } from "../../src/telemetry/otlp/traces.ts";
import { logs, metrics, traces } from "./otlp-shapes.ts";
import { readMessage } from "./protobuf.ts";

export const origin: Origin = {
  attributes: { "service.name": "slüice" },
  scope: { name: "sluice", version: "1", schemaUrl: "https://example.com/1" },
};

const from = { resource: { attributes: origin.attributes }, instrumentationScope: origin.scope };

/** OpenTelemetry's own encoding of the same spans, decoded again. */
export const theirSpans = (spans: readonly SpanFields[]): unknown =>
  read(ProtobufTraceSerializer.serializeRequest(spans.map(sdkSpan) as never), traces);
export function theirLogs<Event>(events: readonly Event[], recordOf: (event: Event) => LogFields | null): unknown {
  const records = events.flatMap((event) => {
    const fields = recordOf(event);
    return fields === null ? [] : [sdkLogRecord(fields)];
  });
  return read(ProtobufLogsSerializer.serializeRequest(records as never), logs);
}
export const theirMetrics = (exported: readonly ExportedMetric[]): unknown =>
  read(
    ProtobufMetricsSerializer.serializeRequest({
      resource: from.resource,
      scopeMetrics: [{ scope: origin.scope, metrics: exported.map(sdkMetric) }],
    } as never),
    metrics,
  );

/** Decodes a request. Unset fields may be written or omitted. */
export function read(request: Uint8Array | undefined, shape: typeof traces): unknown {
  return plain(readMessage(request ?? new Uint8Array(0), shape));
}

/** Decodes a JSON request, in which 64-bit numbers are strings. */
export function readJson(request: Uint8Array): unknown {
  const number = (value: unknown) => (typeof value === "string" ? Number(value) : value);
  return plain(
    JSON.parse(Buffer.from(request).toString(), (name, value) =>
      name === "bucketCounts" ? value.map(number) : name === "intValue" ? number(value) : value,
    ),
  );
}

function plain(message: unknown): unknown {
  return JSON.parse(
    JSON.stringify(message, (name, value: unknown) => {
      if (typeof value === "bigint") return String(value);
      if (name === "status" && (value as { code?: number }).code === 0) return undefined;
      if (name === "droppedAttributesCount" && Number(value) === 0) return undefined;
      return value;
    }),
  );
}

function sdkSpan(fields: SpanFields): object {
  const { trace, parentSourceId, shared } = fields;
  const context = contextOf(trace, spanIdFrom(fields.sourceId), false);
  const parentSpanId = parentSourceId === null ? fields.parentSpanId : spanIdFrom(parentSourceId);
  return {
    ...from,
    name: shared.name,
    kind: shared.kind,
    spanContext: () => context,
    ...(parentSpanId === null ? {} : { parentSpanContext: contextOf(trace, parentSpanId, parentSourceId === null) }),
    startTime: hrTime(fields.startMs),
    endTime: hrTime(Math.max(fields.startMs, fields.endMs)),
    status: fields.failure === null ? { code: 0 } : { code: 2, message: fields.failure },
    attributes: { ...shared.attributes, ...attributesOf(fields.own) },
    links: fields.links.map((link) => ({ context: contextOf(link.trace, spanIdFrom(link.sourceId), false) })),
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({ traceId, traceState }: TraceContext, spanId: string, isRemote: boolean): object {
  const state = traceState === null ? {} : { traceState: { serialize: () => traceState } };
  return { traceId, spanId, traceFlags: 1, isRemote, ...state };
}

function sdkLogRecord(fields: LogFields): object {
  const { trace, shared, own } = fields;
  const traceFlags = fields.sampled ? 1 : 0;
  return {
    ...from,
    hrTime: hrTime(fields.atMs),
    hrTimeObserved: hrTime(fields.observedMs),
    ...(trace === null
      ? {}
      : { spanContext: { traceId: trace.traceId, spanId: spanIdFrom(fields.sourceId), traceFlags } }),
    severityText: fields.level,
    severityNumber: fields.severity,
    ...(fields.body === "" ? {} : { body: fields.body }),
    ...(fields.eventName === null ? {} : { eventName: fields.eventName }),
    attributes: { ...shared?.attributes, ...attributesOf(own), ...fields.attributes },
    droppedAttributesCount: fields.dropped,
  };
}

function sdkMetric({ name, unit, help, type, points, isDelta, startMs, endMs }: ExportedMetric): object {
  return {
    descriptor: { name, unit, description: help, valueType: 1 },
    aggregationTemporality: isDelta ? 0 : 1,
    dataPointType: { histogram: 0, gauge: 2, counter: 3 }[type],
    isMonotonic: type === "counter",
    dataPoints: points.map(({ labels, value }) => ({
      attributes: labels,
      startTime: hrTime(startMs),
      endTime: hrTime(endMs),
      value: typeof value === "number" ? value : { ...value, buckets: value, hasMinMax: false },
    })),
  };
}

/** The attributes of a write-only list. */
export function attributesOf(own: LogFields["own"]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  own?.write({ attribute: (_: number, key: Uint8Array, value: unknown) => (out[keyOf(key)] = value) } as never, 1);
  return out;
}

function keyOf(bytes: Uint8Array): string {
  return String(readMessage(bytes, { 1: ["key", "string"] })["key"]);
}

/** Unix milliseconds with fractions, as seconds and nanoseconds. */
function hrTime(ms: number): readonly [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
