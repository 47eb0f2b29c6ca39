import { bounds } from "#core/index.ts";
import type { HistogramValue } from "../metric-reports.ts";
import type { Batch } from "./export-queue.ts";
import type { ExportedMetric } from "./metric-exports.ts";
import { keyBytes, ProtobufWriter, varintSize } from "./protobuf-writer.ts";
import type { LogFields, SharedFields, SpanFields, SpanLink } from "./record-fields.ts";
import { spanWordsOf, type TraceContext, traceWordsOf } from "./traces.ts";

/** Resource attributes and instrumentation scope, the same in every request. */
export interface Origin {
  readonly attributes: Readonly<Record<string, string>>;
  readonly scope: { readonly name: string; readonly version?: string; readonly schemaUrl?: string };
}

/**
 * Encoded records of one signal, laid out as an export request of opentelemetry-proto. Each is written once, in place. The buffer
 * begins with free space for the head of the request (resource and scope), whose size is known only when the request leaves.
 */
export class RequestBytes {
  readonly #origin: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #schema: Uint8Array;
  readonly #head = new ProtobufWriter(256);
  readonly #headRoom: number;
  #waiting: ProtobufWriter;
  /** The buffer of the request that is being sent; null once it is free. */
  #leaving: ProtobufWriter | null = null;
  #spare: ProtobufWriter | null = null;
  /** The end of each record. */
  #ends: number[] = [];
  #end: number;
  #start = 0;

  constructor({ attributes, scope }: Origin) {
    const writer = new ProtobufWriter();
    const inner = new ProtobufWriter();
    for (const [name, value] of Object.entries(attributes)) writer.attribute(1, keyBytes(name), value);
    inner.message(1, writer);
    this.#origin = inner.toBytes();
    writer.clear();
    inner.clear();
    writer.text(1, scope.name);
    writer.text(2, scope.version ?? "");
    inner.message(1, writer);
    this.#scope = inner.toBytes();
    inner.clear();
    if ((scope.schemaUrl ?? "") !== "") inner.text(3, scope.schemaUrl ?? "");
    this.#schema = inner.toBytes();
    this.#headRoom = this.#origin.length + this.#scope.length + 2 * openBytesMax;
    this.#waiting = this.#empty();
    this.#end = this.#headRoom;
  }

  get size(): number {
    return this.#ends.length;
  }

  get bytes(): number {
    return this.#end - this.#headRoom;
  }

  /** The number of oldest records that fit into `bytesMax`; at least one. */
  fitting(bytesMax: number): number {
    const ends = this.#ends;
    let count = ends.length;
    while (count > 1 && (ends[count - 1] ?? 0) - this.#headRoom > bytesMax) count--;
    return count;
  }

  /** Returns the writer for a record, which counts once `end` is called. */
  begin(): ProtobufWriter {
    // Removes a record that could not be finished.
    this.#waiting.truncate(this.#end);
    this.#start = this.#waiting.beginField(2);
    return this.#waiting;
  }

  end(): void {
    this.#waiting.endField(this.#start);
    this.#end = this.#waiting.length;
    this.#ends.push(this.#end);
  }

  /** A request with at most `size` of the oldest records. */
  take(size: number): Uint8Array {
    const { length } = this.#ends;
    const request = this.#waiting;
    request.truncate(this.#end);
    const rest = this.#spare ?? this.#empty();
    const end = this.#ends[size - 1] ?? this.#headRoom;
    const by = end - this.#headRoom;
    this.#ends = size < length ? this.#ends.slice(size).map((at) => at - by) : [];
    request.moveTail(end, rest);
    request.raw(this.#schema);
    this.#waiting = rest;
    this.#end -= by;
    this.#spare = null;
    this.#leaving = request;
    const head = this.#head;
    const ofScope = this.#scope.length + by + this.#schema.length;
    head.clear();
    head.open(1, this.#origin.length + 1 + varintSize(ofScope) + ofScope);
    head.raw(this.#origin);
    head.open(2, ofScope);
    head.raw(this.#scope);
    return request.withHead(head, this.#headRoom);
  }

  /** Call it when the last request was sent, so that its buffer can be reused. */
  reuse(): void {
    const writer = this.#leaving;
    this.#leaving = null;
    if (writer === null) return;
    writer.begin(this.#headRoom);
    this.#spare = writer;
  }

  #empty(): ProtobufWriter {
    const writer = new ProtobufWriter();
    writer.begin(this.#headRoom);
    return writer;
  }
}

/** A tag and a size below 2^35. */
const openBytesMax = 6;

/** Encoded records waiting to be exported. */
export class BytesStore<Records extends RequestBytes> {
  protected readonly records: Records;
  readonly #onContentLost: () => void;

  constructor(records: Records, onContentLost: () => void = () => {}) {
    this.records = records;
    this.#onContentLost = onContentLost;
  }

  get size(): number {
    return this.records.size;
  }

  get isFull(): boolean {
    return this.records.bytes >= bounds.contentRequestBytesMax;
  }

  take(max: number): Batch<Uint8Array> | null {
    const size = Math.min(max, this.records.fitting(bounds.contentRequestBytesMax));
    return size === 0 ? null : { items: this.records.take(size), size };
  }

  reuse(): void {
    this.records.reuse();
  }

  /** Whether there is no room for the messages of a call, which then count as lost. */
  protected losesContent(): boolean {
    const isLost = this.records.bytes > bounds.contentQueueBytesMax;
    if (isLost) this.#onContentLost();
    return isLost;
  }
}

/** Sampled, HAS_IS_REMOTE and, for a parent of the caller, IS_REMOTE: opentelemetry-proto, SpanFlags. */
const localFlags = 0x101;
const remoteFlags = 0x301;
const spanAttributesField = 9;

/** Spans of an ExportTraceServiceRequest. */
export class SpanBytes extends RequestBytes {
  readonly #inner = new ProtobufWriter();

  put(span: SpanFields): void {
    const out = this.begin();
    const { trace, parentSourceId, failure } = span;
    writeTraceId(out, 1, trace);
    out.words(2, spanWordsOf(span.sourceId));
    if (trace.traceState !== null) out.text(3, trace.traceState);
    if (parentSourceId !== null) out.words(4, spanWordsOf(parentSourceId));
    else if (span.parentSpanId !== null) out.hex(4, span.parentSpanId);
    out.nanoseconds(7, span.startMs);
    out.nanoseconds(8, Math.max(span.startMs, span.endMs));
    out.raw(encodedFields(span.shared, spanAttributesField, writeSpanName));
    span.own.write(out, spanAttributesField);
    for (const link of span.links) this.#writeLink(out, link);
    if (failure !== null) {
      const status = this.#inner;
      status.clear();
      status.text(2, failure);
      status.tag(3, 0);
      status.varint(2);
      out.message(15, status);
    }
    out.tag(16, 5);
    out.fixed32(parentSourceId === null && span.parentSpanId !== null ? remoteFlags : localFlags);
    this.end();
  }

  #writeLink(out: ProtobufWriter, { trace, sourceId }: SpanLink): void {
    const link = this.#inner;
    link.clear();
    writeTraceId(link, 1, trace);
    link.words(2, spanWordsOf(sourceId));
    if (trace.traceState !== null) link.text(3, trace.traceState);
    link.tag(6, 5);
    link.fixed32(localFlags);
    out.message(13, link);
  }
}

function writeSpanName(out: ProtobufWriter, { name, kind }: SharedFields): void {
  out.text(5, name);
  out.tag(6, 0);
  // SPAN_KIND_UNSPECIFIED is 0.
  out.varint(kind + 1);
}

/** Shared fields are encoded at their first use. `head` writes the fields in front of the attributes. */
function encodedFields(
  shared: SharedFields,
  attributesField: number,
  head: (out: ProtobufWriter, shared: SharedFields) => void,
): Uint8Array {
  if (shared.encoded === null) {
    const writer = new ProtobufWriter();
    head(writer, shared);
    for (const [name, value] of Object.entries(shared.attributes)) {
      writer.attribute(attributesField, keyBytes(name), value);
    }
    shared.encoded = writer.toBytes();
  }
  return shared.encoded;
}

function writeTraceId(out: ProtobufWriter, field: number, trace: TraceContext): void {
  if (trace.sourceId === null) out.hex(field, trace.traceId);
  else out.words(field, traceWordsOf(trace.sourceId));
}

const logAttributesField = 6;
const sampledFlag = 1;

/** Log records of an ExportLogsServiceRequest. */
export class LogBytes extends RequestBytes {
  readonly #inner = new ProtobufWriter(256);

  put(record: LogFields): void {
    const out = this.begin();
    const { shared, trace, sampled, dropped } = record;
    out.nanoseconds(1, record.atMs);
    if (shared === null) this.#writeBody(out, record);
    // Records with the same shared fields have the same level and body.
    else out.raw(encodedFields(shared, logAttributesField, (head) => this.#writeBody(head, record)));
    record.own?.write(out, logAttributesField);
    for (const name in record.attributes) writePair(out, logAttributesField, name, record.attributes[name]);
    if (dropped > 0) {
      out.tag(7, 0);
      out.varint(dropped);
    }
    if (trace !== null) {
      out.tag(8, 5);
      out.fixed32(sampled ? sampledFlag : 0);
      writeTraceId(out, 9, trace);
      out.words(10, spanWordsOf(record.sourceId));
    }
    out.nanoseconds(11, record.observedMs);
    if (record.eventName !== null) out.text(12, record.eventName);
    this.end();
  }

  #writeBody(out: ProtobufWriter, { severity, level, body }: LogFields): void {
    out.tag(2, 0);
    out.varint(severity);
    out.text(3, level);
    if (body === "") return;
    const inner = this.#inner;
    inner.clear();
    inner.text(1, body);
    out.message(5, inner);
  }
}

/** A KeyValue with any JSON value. Few records have one. */
function writePair(out: ProtobufWriter, field: number, name: string, value: unknown): void {
  const pair = new ProtobufWriter(smallBytes);
  pair.text(1, name);
  pair.message(2, anyValueOf(value));
  out.message(field, pair);
}

/** An AnyValue, empty for null and undefined. */
function anyValueOf(value: unknown): ProtobufWriter {
  const out = new ProtobufWriter(smallBytes);
  if (typeof value === "string") out.text(1, value);
  else if (typeof value === "boolean") {
    out.tag(2, 0);
    out.varint(value ? 1 : 0);
  } else if (typeof value === "number") writeNumber(out, value);
  else if (Array.isArray(value)) {
    const list = new ProtobufWriter(smallBytes);
    for (const one of value) list.message(1, anyValueOf(one));
    out.message(5, list);
  } else if (typeof value === "object" && value !== null) {
    const list = new ProtobufWriter(smallBytes);
    for (const [name, one] of Object.entries(value)) writePair(list, 1, name, one);
    out.message(6, list);
  }
  return out;
}

function writeNumber(out: ProtobufWriter, value: number): void {
  if (value >= 0 && Number.isSafeInteger(value)) {
    out.tag(3, 0);
    out.varint(value);
  } else {
    out.tag(4, 1);
    out.double(value);
  }
}

const smallBytes = 128;

/** Fields of Metric. */
const fields = { gauge: 5, counter: 7, histogram: 9 } as const;
/** AggregationTemporality. */
const [delta, cumulative] = [1, 2];

/** An ExportMetricsServiceRequest of opentelemetry-proto. */
export function metricsRequest(origin: Origin, metrics: readonly ExportedMetric[]): Uint8Array {
  const request = new RequestBytes(origin);
  for (const metric of metrics) {
    writeMetric(request.begin(), metric);
    request.end();
  }
  return request.take(metrics.length);
}

function writeMetric(out: ProtobufWriter, metric: ExportedMetric): void {
  out.text(1, metric.name);
  out.text(2, metric.help);
  out.text(3, metric.unit ?? unitOf(metric.name));
  const data = out.beginField(fields[metric.type]);
  for (const point of metric.points) {
    const start = out.beginField(1);
    writePoint(out, metric, point);
    out.endField(start);
  }
  if (metric.type !== "gauge") {
    out.tag(2, 0);
    out.varint(metric.isDelta ? delta : cumulative);
  }
  if (metric.type === "counter") {
    out.tag(3, 0);
    out.varint(1);
  }
  out.endField(data);
}

function unitOf(name: string): string {
  if (name.includes("_seconds")) return "s";
  return name.includes("_bytes") ? "By" : "";
}

function writePoint(
  out: ProtobufWriter,
  times: ExportedMetric,
  { labels, value }: ExportedMetric["points"][number],
): void {
  out.nanoseconds(2, times.startMs);
  out.nanoseconds(3, times.endMs);
  const isNumber = typeof value === "number";
  if (isNumber) {
    out.tag(4, 1);
    out.double(value);
  } else writeHistogram(out, value);
  for (const [name, own] of Object.entries(labels)) out.attribute(isNumber ? 7 : 9, keyBytes(name), own);
}

function writeHistogram(out: ProtobufWriter, { count, sum, counts, boundaries }: HistogramValue): void {
  out.tag(4, 1);
  out.fixed64(count);
  out.tag(5, 1);
  out.double(sum);
  out.open(6, counts.length * 8);
  for (const one of counts) out.fixed64(one);
  if (boundaries.length > 0) out.open(7, boundaries.length * 8);
  for (const boundary of boundaries) out.double(boundary);
}
