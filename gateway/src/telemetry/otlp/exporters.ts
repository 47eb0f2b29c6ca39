import {
  type IExportTraceServiceResponse,
  type ISerializer,
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import type { OtlpSignal } from "#ports/index.ts";
import { CollectorClient, type CollectorNetwork } from "./collector-client.ts";
import type { Origin, SdkLogRecord, SdkMetrics } from "./sdk-types.ts";
import { type SpanFields, sdkSpan } from "./span.ts";
import { SpanBytes } from "./span-bytes.ts";

/** How an export ended. `rejected`: records that the collector did not take, of those that it was sent. */
interface Exported {
  readonly problem: string | null;
  readonly rejected: number;
}

/** Writes by OpenTelemetry's serializers and sends within the signal's time-out. Never rejects. */
export type Export<Request> = (request: Request) => Promise<Exported>;

/** Spans as JSON are written by OpenTelemetry's own serializer; as protobuf, which is the usual case, by one that costs less. */
export async function spanExporter(
  signal: OtlpSignal,
  network: CollectorNetwork,
  origin: Origin,
): Promise<Export<readonly SpanFields[]>> {
  const bytes = new SpanBytes(origin);
  const serializer: ISerializer<readonly SpanFields[], IExportTraceServiceResponse> =
    signal.protocol === "http/json"
      ? {
          serializeRequest: (spans) => JsonTraceSerializer.serializeRequest(spans.map((span) => sdkSpan(origin, span))),
          deserializeResponse: (data) => JsonTraceSerializer.deserializeResponse(data),
        }
      : {
          serializeRequest: (spans) => bytes.of(spans),
          deserializeResponse: (data) => ProtobufTraceSerializer.deserializeResponse(data),
        };
  return await exporterOf(signal, network, serializer, (told) => told.partialSuccess?.rejectedSpans);
}

export async function logExporter(signal: OtlpSignal, network: CollectorNetwork): Promise<Export<SdkLogRecord[]>> {
  const serializer = signal.protocol === "http/json" ? JsonLogsSerializer : ProtobufLogsSerializer;
  return await exporterOf(signal, network, serializer, (told) => told.partialSuccess?.rejectedLogRecords);
}

export async function metricExporter(signal: OtlpSignal, network: CollectorNetwork): Promise<Export<SdkMetrics>> {
  const serializer = signal.protocol === "http/json" ? JsonMetricsSerializer : ProtobufMetricsSerializer;
  return await exporterOf(signal, network, serializer, (told) => told.partialSuccess?.rejectedDataPoints);
}

async function exporterOf<Request, Response>(
  signal: OtlpSignal,
  network: CollectorNetwork,
  serializer: ISerializer<Request, Response>,
  rejectedOf: (response: Response) => number | string | undefined,
): Promise<Export<Request>> {
  const client = await CollectorClient.open(signal, network);
  return async (request) => {
    const body = serializer.serializeRequest(request);
    if (body === undefined) return { problem: "it cannot be written", rejected: 0 };
    const { problem, answer } = await client.send(body);
    if (problem !== null) return { problem, rejected: 0 };
    return { problem: null, rejected: rejectedIn(answer, serializer, rejectedOf) };
  };
}

/** An answer that nobody can read has rejected nothing. */
function rejectedIn<Response>(
  answer: Uint8Array,
  serializer: Pick<ISerializer<never, Response>, "deserializeResponse">,
  rejectedOf: (response: Response) => number | string | undefined,
): number {
  if (answer.length === 0) return 0;
  try {
    const rejected = Number(rejectedOf(serializer.deserializeResponse(answer)) ?? 0);
    return Number.isFinite(rejected) ? rejected : 0;
  } catch {
    return 0;
  }
}
