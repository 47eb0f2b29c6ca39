import type {
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";

// The forms that OpenTelemetry's serializers take, so that only the package which writes them is named here.
export type SdkSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];
export type SdkLogRecord = Parameters<typeof ProtobufLogsSerializer.serializeRequest>[0][number];
export type SdkMetrics = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0];
export type SdkMetric = SdkMetrics["scopeMetrics"][number]["metrics"][number];
type SdkResource = SdkSpan["resource"];
type SdkScope = SdkSpan["instrumentationScope"];
export type HrTime = SdkSpan["startTime"];

/** Attributes in the making. */
export type Attributes = Record<string, string | number | boolean>;

/** Who tells: the same two objects in everything that is sent, by which records are put together. */
export interface Origin {
  readonly resource: SdkResource;
  readonly scope: SdkScope;
}

/** Unix milliseconds with fractions, as seconds and nanoseconds. */
export function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
