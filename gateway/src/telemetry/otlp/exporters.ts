import { readFile } from "node:fs/promises";
import { createOtlpHttpExportDelegate, httpAgentFactoryFromOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import {
  type IExporterMetricsHelper,
  type IExportTraceServiceResponse,
  type ISerializer,
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  LogsExporterMetricsHelper,
  MetricsExporterMetricsHelper,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import { bounds } from "#core/index.ts";
import type { OtlpSignal } from "#ports/index.ts";
import type { Origin, SdkLogRecord, SdkMetrics } from "./sdk-types.ts";
import { type SpanFields, sdkSpan } from "./span.ts";
import { SpanBytes } from "./span-bytes.ts";

/** How an export ended. `rejected`: records that the collector did not take, of those that it was sent. */
interface Exported {
  readonly problem: string | null;
  readonly rejected: number;
}

/** Sends by OpenTelemetry's own exporter, which tries again where the protocol says so, within the signal's time-out. Never rejects. */
export type Export<Request> = (request: Request) => Promise<Exported>;

/** Spans as JSON are written by OpenTelemetry's own serializer; as protobuf, which is the usual case, by one that costs less. */
export async function spanExporter(signal: OtlpSignal, origin: Origin): Promise<Export<readonly SpanFields[]>> {
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
  const helper = { name: TraceExporterMetricsHelper.name, countItems: (spans: readonly SpanFields[]) => spans.length };
  return await exporterOf(signal, serializer, helper, (told) => told.partialSuccess?.rejectedSpans);
}

export async function logExporter(signal: OtlpSignal): Promise<Export<SdkLogRecord[]>> {
  const serializer = signal.protocol === "http/json" ? JsonLogsSerializer : ProtobufLogsSerializer;
  return await exporterOf(
    signal,
    serializer,
    LogsExporterMetricsHelper,
    (told) => told.partialSuccess?.rejectedLogRecords,
  );
}

export async function metricExporter(signal: OtlpSignal): Promise<Export<SdkMetrics>> {
  const serializer = signal.protocol === "http/json" ? JsonMetricsSerializer : ProtobufMetricsSerializer;
  return await exporterOf(
    signal,
    serializer,
    MetricsExporterMetricsHelper,
    (told) => told.partialSuccess?.rejectedDataPoints,
  );
}

async function exporterOf<Request, Response>(
  signal: OtlpSignal,
  serializer: ISerializer<Request, Response>,
  helper: IExporterMetricsHelper<Request>,
  rejectedOf: (response: Response) => number | string | undefined,
): Promise<Export<Request>> {
  const headers = headersOf(signal);
  const agentFactory = httpAgentFactoryFromOptions({ keepAlive: true, ...(await certificatesOf(signal)) });
  let rejected = 0;
  const delegate = createOtlpHttpExportDelegate(
    {
      url: signal.url,
      headers: async () => ({
        ...headers,
        "Content-Type": signal.protocol === "http/json" ? "application/json" : "application/x-protobuf",
      }),
      timeoutMillis: signal.timeoutMs,
      // The package does not give out the enumeration's type without its values.
      compression: signal.compression as Parameters<typeof createOtlpHttpExportDelegate>[0]["compression"],
      concurrencyLimit: bounds.otlpExportsMax,
      agentFactory,
      userAgent: "sluice",
    },
    {
      serializeRequest: (request) => serializer.serializeRequest(request),
      deserializeResponse: (data) => {
        const told = serializer.deserializeResponse(data);
        rejected = Number(rejectedOf(told) ?? 0);
        return told;
      },
    },
    "otlp_http_exporter",
    helper,
    undefined,
  );
  return (request) => {
    rejected = 0;
    return new Promise((resolve) =>
      delegate.export(request, ({ code, error }) =>
        // 0: success, of OpenTelemetry's ExportResultCode.
        resolve({ problem: code === 0 ? null : problemOf(error), rejected: Number.isFinite(rejected) ? rejected : 0 }),
      ),
    );
  };
}

/** Without the collector's own words: they may quote what was sent to it. */
function problemOf(error: Error | undefined): string {
  const code = error !== undefined && "code" in error ? String(error.code) : "";
  const words = (error?.message ?? "").slice(0, bounds.collectorWordsMax);
  if (/^\d+$/.test(code)) return `it answered ${code}${words === "" ? "" : ` (${words})`}`;
  if (words === "" || words === "Export failed with retryable status")
    return "it answers that it cannot take anything now";
  return code === "" ? words : `${code}: ${words}`;
}

function headersOf({ headers }: Pick<OtlpSignal, "headers">): Record<string, string> {
  const out: Record<string, string> = {};
  for (const part of (headers?.reveal() ?? "").split(",")) {
    const at = part.indexOf("=");
    if (at > 0) out[decodeURIComponent(part.slice(0, at).trim())] = decodeURIComponent(part.slice(at + 1).trim());
  }
  return out;
}

/** Throws when a file cannot be read: what was to be checked must not be sent unchecked. */
async function certificatesOf(signal: OtlpSignal): Promise<{ ca?: Buffer; cert?: Buffer; key?: Buffer }> {
  const { certificateFile, clientCertificateFile, clientKeyFile } = signal;
  return {
    ...(certificateFile === null ? {} : { ca: await readFile(certificateFile) }),
    ...(clientCertificateFile === null ? {} : { cert: await readFile(clientCertificateFile) }),
    ...(clientKeyFile === null ? {} : { key: await readFile(clientKeyFile) }),
  };
}
