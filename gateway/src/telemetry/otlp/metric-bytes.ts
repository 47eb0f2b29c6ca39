import type { HistogramValue, MeasuredPoint } from "./measured-metric.ts";
import type { ToldMetric } from "./metric-data.ts";
import { keyBytes, type ProtobufWriter } from "./protobuf-writer.ts";
import { type Origin, RequestBytes } from "./request-bytes.ts";

/** Fields of Metric. */
const fields = { gauge: 5, sum: 7, histogram: 9 } as const;
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
  out.text(3, metric.unit);
  const data = out.openLater(fields[metric.kind]);
  for (const point of metric.points) {
    const start = out.openLater(1);
    writePoint(out, metric, point);
    out.close(start);
  }
  if (metric.kind !== "gauge") {
    out.tag(2, 0);
    out.varint(metric.isDelta ? delta : cumulative);
  }
  if (metric.kind === "sum") {
    out.tag(3, 0);
    out.varint(1);
  }
  out.close(data);
}

function writePoint(out: ProtobufWriter, { startMs, endMs }: ToldMetric, { attributes, value }: MeasuredPoint): void {
  out.nanoseconds(2, startMs);
  out.nanoseconds(3, endMs);
  const isNumber = typeof value === "number";
  if (isNumber) {
    out.tag(4, 1);
    out.double(value);
  } else writeHistogram(out, value);
  for (const [name, own] of Object.entries(attributes)) out.attribute(isNumber ? 7 : 9, keyBytes(name), own);
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
