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
import { LogBytes } from "./log-bytes.ts";
import { type LogFields, sdkLogRecord } from "./log-fields.ts";
import type { LogRow } from "./log-store.ts";
import type { Origin, SdkLogRecord, SdkMetrics, SdkSpan } from "./sdk-types.ts";
import { type SpanFields, sdkSpan } from "./span.ts";
import { SpanBytes } from "./span-bytes.ts";
import type { SpanRow } from "./span-store.ts";
import { WeighedList } from "./weighed-list.ts";

/** How an export ended. `rejected`: records that the collector did not take, of those that it was sent. */
interface Exported {
  readonly problem: string | null;
  /** With a problem: the collector may have taken it all the same. */
  readonly mayBeTaken: boolean;
  readonly rejected: number;
}

/** Writes by OpenTelemetry's serializers and sends within the signal's time-out. Never rejects. */
export type Export<Request> = (request: Request) => Promise<Exported>;

/** Spans on their way, and what sends them. */
export interface SpanExport {
  /** Where a span waits, in the form in which it is sent. */
  readonly row: SpanRow<SentSpans>;
  readonly send: Export<SentSpans>;
}

/** As protobuf, the whole request; or in the form that OpenTelemetry's serializer takes. */
type SentSpans = Uint8Array | readonly SdkSpan[];

/** Spans as JSON are written by OpenTelemetry's own serializer; as protobuf, which is the usual case, by one that costs less. */
export async function spanExporter(signal: OtlpSignal, network: CollectorNetwork, origin: Origin): Promise<SpanExport> {
  const isJson = signal.protocol === "http/json";
  const theirs = isJson ? JsonTraceSerializer : ProtobufTraceSerializer;
  const serializer: ISerializer<SentSpans, IExportTraceServiceResponse> = {
    serializeRequest: (spans) => (spans instanceof Uint8Array ? spans : JsonTraceSerializer.serializeRequest(spans)),
    deserializeResponse: (data) => theirs.deserializeResponse(data),
  };
  return {
    row: isJson ? new SdkSpans(origin) : new SpanBytes(origin),
    send: await exporterOf(signal, network, serializer, (told) => told.partialSuccess?.rejectedSpans),
  };
}

class SdkSpans implements SpanRow<readonly SdkSpan[]> {
  readonly #origin: Origin;
  readonly #spans = new WeighedList<SdkSpan>();

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  get size(): number {
    return this.#spans.size;
  }

  get bytes(): number {
    return this.#spans.weight;
  }

  fitting(bytesMax: number): number {
    return this.#spans.fitting(bytesMax);
  }

  put(span: SpanFields): void {
    let length = 0;
    span.own.each((_name, value) => {
      if (typeof value === "string") length += value.length;
    });
    this.#spans.add(sdkSpan(this.#origin, span), length);
  }

  take(size: number): readonly SdkSpan[] {
    return this.#spans.take(size);
  }
}

/** Records on their way, and what sends them. */
export interface LogExport {
  readonly row: LogRow<SentLogs>;
  readonly send: Export<SentLogs>;
}

type SentLogs = Uint8Array | readonly SdkLogRecord[];

/** As with spans. */
export async function logExporter(signal: OtlpSignal, network: CollectorNetwork, origin: Origin): Promise<LogExport> {
  const isJson = signal.protocol === "http/json";
  const theirs = isJson ? JsonLogsSerializer : ProtobufLogsSerializer;
  const serializer: ISerializer<SentLogs, ReturnType<typeof theirs.deserializeResponse>> = {
    serializeRequest: (logs) => (logs instanceof Uint8Array ? logs : JsonLogsSerializer.serializeRequest([...logs])),
    deserializeResponse: (data) => theirs.deserializeResponse(data),
  };
  return {
    row: isJson ? new SdkLogs(origin) : new LogBytes(origin),
    send: await exporterOf(signal, network, serializer, (told) => told.partialSuccess?.rejectedLogRecords),
  };
}

class SdkLogs implements LogRow<readonly SdkLogRecord[]> {
  readonly #origin: Origin;
  readonly #records = new WeighedList<SdkLogRecord>();

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  get size(): number {
    return this.#records.size;
  }

  get bytes(): number {
    return this.#records.weight;
  }

  fitting(bytesMax: number): number {
    return this.#records.fitting(bytesMax);
  }

  put(record: LogFields): void {
    this.#records.add(sdkLogRecord(this.#origin, record), record.contentLength);
  }

  take(size: number): readonly SdkLogRecord[] {
    return this.#records.take(size);
  }
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
    if (body === undefined) return { problem: "it cannot be written", mayBeTaken: false, rejected: 0 };
    const { problem, mayBeTaken, answer } = await client.send(body);
    if (problem !== null) return { problem, mayBeTaken, rejected: 0 };
    return { problem: null, mayBeTaken, rejected: rejectedIn(answer, serializer, rejectedOf) };
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
