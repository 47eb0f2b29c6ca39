/** What is used of OpenTelemetry's exporter packages. Their own types are those of three SDKs, of which nothing else is used here. */
declare module "@opentelemetry/otlp-transformer" {
  export interface ISerializer<Request, Response> {
    serializeRequest(request: Request): Uint8Array | undefined;
    deserializeResponse(data: Uint8Array): Response;
  }

  type HrTime = [seconds: number, nanoseconds: number];
  interface Resource {
    readonly attributes: Readonly<Record<string, unknown>>;
  }
  interface Scope {
    readonly name: string;
    readonly version?: string;
    readonly schemaUrl?: string;
  }
  interface SpanContext {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
    readonly isRemote?: boolean;
    readonly traceState?: { serialize(): string };
  }
  interface ReadableSpan {
    readonly name: string;
    readonly kind: number;
    readonly spanContext: () => SpanContext;
    readonly parentSpanContext?: SpanContext;
    readonly startTime: HrTime;
    readonly endTime: HrTime;
    readonly status: { readonly code: number; readonly message?: string };
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly links: readonly { readonly context: SpanContext }[];
    readonly events: readonly never[];
    readonly duration: HrTime;
    readonly ended: boolean;
    readonly resource: Resource;
    readonly instrumentationScope: Scope;
    readonly droppedAttributesCount: number;
    readonly droppedEventsCount: number;
    readonly droppedLinksCount: number;
  }
  interface ReadableLogRecord {
    readonly hrTime: HrTime;
    readonly hrTimeObserved: HrTime;
    readonly spanContext?: SpanContext;
    readonly severityText?: string;
    readonly severityNumber?: number;
    readonly body?: string;
    readonly resource: Resource;
    readonly instrumentationScope: Scope;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly droppedAttributesCount: number;
  }
  interface HistogramData {
    readonly buckets: { readonly boundaries: readonly number[]; readonly counts: readonly number[] };
    readonly sum: number;
    readonly count: number;
    readonly hasMinMax: false;
  }
  interface MetricData {
    readonly descriptor: {
      readonly name: string;
      readonly unit: string;
      readonly description: string;
      readonly valueType: number;
    };
    readonly aggregationTemporality: number;
    readonly dataPointType: number;
    readonly isMonotonic?: boolean;
    readonly dataPoints: readonly {
      readonly attributes: Readonly<Record<string, unknown>>;
      readonly startTime: HrTime;
      readonly endTime: HrTime;
      readonly value: number | HistogramData;
    }[];
  }
  interface ResourceMetrics {
    readonly resource: Resource;
    readonly scopeMetrics: readonly { readonly scope: Scope; readonly metrics: readonly MetricData[] }[];
  }
  interface Response<Name extends string> {
    readonly partialSuccess?: { readonly [Member in Name]?: number | string };
  }
  export type IExportTraceServiceResponse = Response<"rejectedSpans">;

  export const JsonTraceSerializer: ISerializer<readonly ReadableSpan[], IExportTraceServiceResponse>;
  export const ProtobufTraceSerializer: ISerializer<readonly ReadableSpan[], IExportTraceServiceResponse>;
  export const JsonLogsSerializer: ISerializer<readonly ReadableLogRecord[], Response<"rejectedLogRecords">>;
  export const ProtobufLogsSerializer: ISerializer<readonly ReadableLogRecord[], Response<"rejectedLogRecords">>;
  export const JsonMetricsSerializer: ISerializer<ResourceMetrics, Response<"rejectedDataPoints">>;
  export const ProtobufMetricsSerializer: ISerializer<ResourceMetrics, Response<"rejectedDataPoints">>;
}
