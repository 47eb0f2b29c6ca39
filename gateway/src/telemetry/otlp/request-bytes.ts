import { bounds } from "#core/index.ts";
import type { HistogramValue } from "../metric-reports.ts";
import type { Taken } from "./export-queue.ts";
import type { ToldMetric } from "./metric-data.ts";
import { keyBytes, ProtobufWriter, varintSize } from "./protobuf-writer.ts";
import type { LogFields, SharedFields, SpanFields, SpanLink } from "./record-fields.ts";
import { spanWordsOf, type TraceContext, traceWordsOf } from "./traces.ts";

/** Who tells: the same in everything that is sent. */
export interface Origin {
  /** Of the resource. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly scope: { readonly name: string; readonly version?: string; readonly schemaUrl?: string };
}

/**
 * Records of one kind as they stand in an export request of opentelemetry-proto: below their resource and their scope. They are written
 * once, where they are sent from: behind room for what stands in front of them in a request, which is known when that leaves.
 */
export class RequestBytes {
  readonly #origin: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #schema: Uint8Array;
  readonly #head = new ProtobufWriter(256);
  readonly #headRoom: number;
  #waiting: ProtobufWriter;
  /** What the last request stands in; null: it is not known to be done with. */
  #leaving: ProtobufWriter | null = null;
  #spare: ProtobufWriter | null = null;
  /** Where each of them ends. */
  #ends: number[] = [];
  #end: number;
  #start = 0;

  constructor({ attributes, scope }: Origin) {
    const writer = new ProtobufWriter();
    const inner = new ProtobufWriter();
    for (const [name, value] of Object.entries(attributes)) writer.attribute(1, keyBytes(name), value);
    inner.message(1, writer);
    this.#origin = inner.taken();
    writer.clear();
    inner.clear();
    writer.text(1, scope.name);
    writer.text(2, scope.version ?? "");
    inner.message(1, writer);
    this.#scope = inner.taken();
    inner.clear();
    if ((scope.schemaUrl ?? "") !== "") inner.text(3, scope.schemaUrl ?? "");
    this.#schema = inner.taken();
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

  /** How many of the oldest take no more than that; one at the least. */
  fitting(bytesMax: number): number {
    const ends = this.#ends;
    let count = ends.length;
    while (count > 1 && (ends[count - 1] ?? 0) - this.#headRoom > bytesMax) count--;
    return count;
  }

  /** Where a record is to be written, which is there with `end`. */
  begin(): ProtobufWriter {
    // One that could not be written to its end stands there still.
    this.#waiting.cut(this.#end);
    this.#start = this.#waiting.openLater(2);
    return this.#waiting;
  }

  end(): void {
    this.#waiting.close(this.#start);
    this.#end = this.#waiting.length;
    this.#ends.push(this.#end);
  }

  /** A request with the oldest, `size` of them at most. */
  take(size: number): Uint8Array {
    const { length } = this.#ends;
    const request = this.#waiting;
    request.cut(this.#end);
    const rest = this.#spare ?? this.#empty();
    const end = this.#ends[size - 1] ?? this.#headRoom;
    const by = end - this.#headRoom;
    this.#ends = size < length ? this.#ends.slice(size).map((at) => at - by) : [];
    request.move(end, rest);
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
    return request.headed(head, this.#headRoom);
  }

  /** The last request has left, and the next but one may stand where it stood. */
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

/** A tag, and a size below 2^35. */
const openBytesMax = 6;

/** Records that wait to be sent as the bytes of a request. */
export class BytesStore<Row extends RequestBytes> {
  protected readonly row: Row;
  readonly #onContentLost: () => void;

  constructor(row: Row, onContentLost: () => void = () => {}) {
    this.row = row;
    this.#onContentLost = onContentLost;
  }

  get size(): number {
    return this.row.size;
  }

  get isFull(): boolean {
    return this.row.bytes >= bounds.contentRequestBytesMax;
  }

  take(max: number): Taken<Uint8Array> | null {
    const size = Math.min(max, this.row.fitting(bounds.contentRequestBytesMax));
    return size === 0 ? null : { batch: this.row.take(size), size };
  }

  reuse(): void {
    this.row.reuse();
  }

  /** Whether there is no room for what was said in a call, which is then counted as lost. */
  protected losesContent(): boolean {
    const isLost = this.row.bytes > bounds.contentQueueBytesMax;
    if (isLost) this.#onContentLost();
    return isLost;
  }
}

/** Has the context's HAS_IS_REMOTE bit, IS_REMOTE, and the sampled flag: opentelemetry-proto, SpanFlags. */
const localFlags = 0x101;
const remoteFlags = 0x301;
const spanAttributesField = 9;

/** Spans as they stand in an ExportTraceServiceRequest of opentelemetry-proto; a batch is such a request. */
export class SpanBytes extends RequestBytes {
  readonly #inner = new ProtobufWriter();

  put(span: SpanFields): void {
    this.#write(this.begin(), span);
    this.end();
  }

  #write(out: ProtobufWriter, span: SpanFields): void {
    const { trace, below, failed } = span;
    writeTraceId(out, 1, trace);
    out.words(2, spanWordsOf(span.of));
    if (trace.traceState !== null) out.text(3, trace.traceState);
    if (below !== null) out.words(4, spanWordsOf(below));
    else if (span.parentSpanId !== null) out.hex(4, span.parentSpanId);
    out.nanoseconds(7, span.startMs);
    out.nanoseconds(8, Math.max(span.startMs, span.endMs));
    out.raw(span.shared.written ?? writeShared(span.shared));
    span.own.write(out, spanAttributesField);
    for (const link of span.links) this.#writeLink(out, link);
    if (failed !== null) {
      const status = this.#inner;
      status.clear();
      status.text(2, failed);
      status.tag(3, 0);
      status.varint(2);
      out.message(15, status);
    }
    out.tag(16, 5);
    out.fixed32(below === null && span.parentSpanId !== null ? remoteFlags : localFlags);
  }

  #writeLink(out: ProtobufWriter, { trace, of }: SpanLink): void {
    const link = this.#inner;
    link.clear();
    writeTraceId(link, 1, trace);
    link.words(2, spanWordsOf(of));
    if (trace.traceState !== null) link.text(3, trace.traceState);
    link.tag(6, 5);
    link.fixed32(localFlags);
    out.message(13, link);
  }
}

/** What many spans have alike. */
function writeShared(shared: SharedFields): Uint8Array {
  return shared.write(spanAttributesField, (out) => {
    out.text(5, shared.name);
    out.tag(6, 0);
    // In the protocol 0 is no kind.
    out.varint(shared.kind + 1);
  });
}

function writeTraceId(out: ProtobufWriter, field: number, trace: TraceContext): void {
  if (trace.root === null) out.hex(field, trace.traceId);
  else out.words(field, traceWordsOf(trace.root));
}

const logAttributesField = 6;
const sampledFlag = 1;

/** Records as they stand in an ExportLogsServiceRequest of opentelemetry-proto; a batch is such a request. */
export class LogBytes extends RequestBytes {
  readonly #inner = new ProtobufWriter(256);

  put(record: LogFields): void {
    this.#write(this.begin(), record);
    this.end();
  }

  #write(out: ProtobufWriter, record: LogFields): void {
    const { shared, trace, sampled, dropped } = record;
    out.nanoseconds(1, record.atMs);
    if (shared === null) this.#writeWords(out, record);
    else out.raw(shared.written ?? this.#writeShared(shared, record));
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
      out.words(10, spanWordsOf(record.of));
    }
    out.nanoseconds(11, record.observedMs);
    if (record.eventName !== null) out.text(12, record.eventName);
  }

  #writeWords(out: ProtobufWriter, { severity, level, body }: LogFields): void {
    out.tag(2, 0);
    out.varint(severity);
    out.text(3, level);
    if (body === "") return;
    const inner = this.#inner;
    inner.clear();
    inner.text(1, body);
    out.message(5, inner);
  }

  /** What many records have alike, their level and words among it. */
  #writeShared(shared: SharedFields, record: LogFields): Uint8Array {
    return shared.write(logAttributesField, (out) => this.#writeWords(out, record));
  }
}

/** A KeyValue whose value is any that JSON has. Few records have such. */
function writePair(out: ProtobufWriter, field: number, name: string, value: unknown): void {
  const pair = new ProtobufWriter(smallBytes);
  pair.text(1, name);
  pair.message(2, anyValueOf(value));
  out.message(field, pair);
}

/** An AnyValue; without a member where there is no value. */
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
export function metricsRequest(origin: Origin, metrics: readonly ToldMetric[]): Uint8Array {
  const request = new RequestBytes(origin);
  for (const metric of metrics) {
    writeMetric(request.begin(), metric);
    request.end();
  }
  return request.take(metrics.length);
}

function writeMetric(out: ProtobufWriter, metric: ToldMetric): void {
  out.text(1, metric.name);
  out.text(2, metric.help);
  out.text(3, metric.unit ?? unitOf(metric.name));
  const data = out.openLater(fields[metric.type]);
  for (const point of metric.points) {
    const start = out.openLater(1);
    writePoint(out, metric, point);
    out.close(start);
  }
  if (metric.type !== "gauge") {
    out.tag(2, 0);
    out.varint(metric.isDelta ? delta : cumulative);
  }
  if (metric.type === "counter") {
    out.tag(3, 0);
    out.varint(1);
  }
  out.close(data);
}

function unitOf(name: string): string {
  if (name.includes("_seconds")) return "s";
  return name.includes("_bytes") ? "By" : "";
}

function writePoint(out: ProtobufWriter, times: ToldMetric, { labels, value }: ToldMetric["points"][number]): void {
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
