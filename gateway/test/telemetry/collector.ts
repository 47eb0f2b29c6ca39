import { gunzipSync } from "node:zlib";
import { logs, metrics, traces } from "./otlp-shapes.ts";
import { readMessage } from "./protobuf.ts";

type Attributes = Readonly<Record<string, unknown>>;

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** 2 server, 3 client. */
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0 unset, 2 error. */
  readonly status: number;
  /** The status message, or empty. */
  readonly statusMessage: string;
  readonly resource: Attributes;
}

export interface CollectedPoint {
  readonly name: string;
  readonly kind: "gauge" | "sum" | "histogram";
  /** 1 delta, 2 cumulative. */
  readonly temporality: number;
  readonly attributes: Attributes;
  /** The sum of a histogram. */
  readonly value: number;
  readonly count: number;
  readonly buckets: readonly number[];
  readonly boundaries: readonly number[];
}

export interface CollectedLog {
  /** Empty for a log line. */
  readonly eventName: string;
  readonly body: string;
  readonly severity: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Attributes;
}

export interface Arrived {
  readonly path: string;
  readonly headers: Headers;
}

/** An OTLP/HTTP collector that decodes both encodings and stores what it receives. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** One list per export. */
  readonly metricExports: CollectedPoint[][] = [];
  readonly logs: CollectedLog[] = [];
  readonly arrived: Arrived[] = [];
  /** The resource attributes of each list of log records. */
  readonly resources: Attributes[] = [];
  /** Answers with this instead of accepting anything; null: accepts everything. */
  refusal: (() => Response | Promise<Response>) | null = null;
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      idleTimeout: 0,
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => this.#take(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  spansOf(requestId: string): readonly CollectedSpan[] {
    return this.spans.filter(({ attributes }) => attributes["sluice.request.id"] === requestId);
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #take(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    this.arrived.push({ path: pathname, headers: request.headers });
    const sent = new Uint8Array(await request.arrayBuffer());
    if (this.refusal !== null) return await this.refusal();
    const body = request.headers.get("content-encoding") === "gzip" ? gunzipSync(sent) : sent;
    const isJson = request.headers.get("content-type") === "application/json";
    const shape = { "/v1/traces": traces, "/v1/metrics": metrics, "/v1/logs": logs }[pathname];
    if (shape === undefined) return new Response("no such path\n", { status: 404 });
    const read = (isJson ? JSON.parse(new TextDecoder().decode(body)) : readMessage(body, shape)) as {
      readonly [Kind in "resourceSpans" | "resourceMetrics" | "resourceLogs"]?: readonly WireResource[];
    };
    for (const from of read.resourceSpans ?? []) this.#takeSpans(from);
    for (const from of read.resourceMetrics ?? []) this.#takeMetrics(from);
    for (const from of read.resourceLogs ?? []) this.#takeLogs(from);
    return new Response(isJson ? "{}" : new Uint8Array(0), {
      headers: { "content-type": isJson ? "application/json" : "application/x-protobuf" },
    });
  }

  #takeSpans({ resource, scopeSpans }: WireResource): void {
    for (const span of (scopeSpans ?? []).flatMap((scope) => scope.spans ?? [])) {
      const { startTimeUnixNano, endTimeUnixNano, ...rest } = span;
      this.spans.push({
        ...rest,
        parentSpanId: span.parentSpanId ?? "",
        traceState: span.traceState ?? "",
        startMs: Number(startTimeUnixNano) / 1e6,
        endMs: Number(endTimeUnixNano) / 1e6,
        attributes: attributesOf(span.attributes),
        links: span.links ?? [],
        status: span.status?.code ?? 0,
        statusMessage: span.status?.message ?? "",
        resource: attributesOf(resource?.attributes),
      });
    }
  }

  #takeMetrics({ scopeMetrics }: WireResource): void {
    const points = (scopeMetrics ?? [])
      .flatMap((scope) => scope.metrics ?? [])
      .flatMap((metric) => {
        const kind = (["gauge", "sum", "histogram"] as const).find((one) => metric[one] !== undefined) ?? "gauge";
        const data = metric[kind] ?? {};
        return (data.dataPoints ?? []).map((point) => ({
          name: metric.name,
          kind,
          temporality: data.aggregationTemporality ?? 0,
          attributes: attributesOf(point.attributes),
          value: Number(point.asDouble ?? point.asInt ?? point.sum ?? 0),
          count: Number(point.count ?? 0),
          buckets: (point.bucketCounts ?? []).map(Number),
          boundaries: point.explicitBounds ?? [],
        }));
      });
    this.metricExports.push(points);
  }

  #takeLogs({ resource, scopeLogs }: WireResource): void {
    this.resources.push(attributesOf(resource?.attributes));
    for (const record of (scopeLogs ?? []).flatMap((scope) => scope.logRecords ?? [])) {
      this.logs.push({
        eventName: record.eventName ?? "",
        body: record.body?.stringValue ?? "",
        severity: record.severityNumber ?? 0,
        traceId: record.traceId ?? "",
        spanId: record.spanId ?? "",
        attributes: attributesOf(record.attributes),
      });
    }
  }
}

/** OTLP's JSON, to which protobuf is converted too. */
interface WireResource {
  readonly resource?: { readonly attributes?: readonly WirePair[] };
  readonly scopeSpans?: readonly { readonly spans?: readonly WireSpan[] }[];
  readonly scopeMetrics?: readonly { readonly metrics?: readonly WireMetric[] }[];
  readonly scopeLogs?: readonly { readonly logRecords?: readonly WireLog[] }[];
}

interface WirePair {
  readonly key: string;
  readonly value?: WireValue;
}

interface WireValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly WireValue[] };
  readonly kvlistValue?: { readonly values?: readonly WirePair[] };
}

interface WireSpan extends Pick<CollectedSpan, "traceId" | "spanId" | "name" | "kind"> {
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly startTimeUnixNano: string | bigint;
  readonly endTimeUnixNano: string | bigint;
  readonly attributes?: readonly WirePair[];
  readonly links?: CollectedSpan["links"];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface WireMetric extends Partial<Record<"gauge" | "sum" | "histogram", WireData>> {
  readonly name: string;
}

interface WireData {
  readonly aggregationTemporality?: number;
  readonly dataPoints?: readonly {
    readonly attributes?: readonly WirePair[];
    readonly asDouble?: number;
    readonly asInt?: number | string | bigint;
    readonly sum?: number;
    readonly count?: number | string | bigint;
    readonly bucketCounts?: readonly (number | string)[];
    readonly explicitBounds?: readonly number[];
  }[];
}

interface WireLog {
  readonly eventName?: string;
  readonly severityNumber?: number;
  readonly body?: WireValue;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attributes?: readonly WirePair[];
}

function attributesOf(list: readonly WirePair[] = []): Attributes {
  return Object.fromEntries(list.map(({ key, value }) => [key, plainOf(value)]));
}

function plainOf(value: WireValue = {}): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map((one) => plainOf(one));
  if (value.kvlistValue !== undefined) return attributesOf(value.kvlistValue.values);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? null;
}
