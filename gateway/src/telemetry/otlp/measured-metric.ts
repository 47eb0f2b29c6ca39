import type { MetricReport } from "../metric-reports.ts";

/** A histogram as it stands: `counts` has one more place than `boundaries`, for what is above them all. */
export interface HistogramValue {
  readonly boundaries: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export interface MeasuredPoint {
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly value: number | HistogramValue;
}

/** One metric of this process, counted since it began. */
export interface MeasuredMetric {
  readonly name: string;
  readonly unit: string;
  readonly help: string;
  readonly kind: "sum" | "gauge" | "histogram";
  readonly points: readonly MeasuredPoint[];
}

/** Counts values by fixed boundaries. A value on a boundary belongs below it. */
export class Distribution implements HistogramValue {
  readonly boundaries: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(boundaries: readonly number[]) {
    this.boundaries = boundaries;
    this.counts = new Array<number>(boundaries.length + 1).fill(0);
  }

  observe(value: number): void {
    let place = 0;
    while (place < this.boundaries.length && value > (this.boundaries[place] ?? 0)) place++;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
    this.count++;
  }
}

/** The gateway's own metrics as /metrics has them, under the same names. */
export function reportedMetrics(report: MetricReport): readonly MeasuredMetric[] {
  return report.flatMap(({ name, help, type, values }): MeasuredMetric[] => {
    const metric = { name, help, unit: unitOf(name) };
    if (type === "histogram") return [{ ...metric, kind: "histogram", points: histogramPoints(name, values) }];
    if (type !== "counter" && type !== "gauge") return [];
    const points = values.flatMap(({ labels, value }) =>
      value === null || !Number.isFinite(value) ? [] : [{ attributes: labels, value }],
    );
    return [{ ...metric, kind: type === "counter" ? "sum" : "gauge", points }];
  });
}

function unitOf(name: string): string {
  if (name.includes("_seconds")) return "s";
  return name.includes("_bytes") ? "By" : "";
}

/** Prometheus tells a histogram as counts below each boundary; OpenTelemetry as counts between them. */
function histogramPoints(name: string, values: MetricReport[number]["values"]): readonly MeasuredPoint[] {
  const points = new Map<
    string,
    { attributes: MeasuredPoint["attributes"]; below: [number, number][]; sum: number; count: number }
  >();
  for (const { metricName, labels, value } of values) {
    const { le, ...attributes } = labels;
    const key = JSON.stringify(attributes);
    let point = points.get(key);
    if (point === undefined) {
      point = { attributes, below: [], sum: 0, count: 0 };
      points.set(key, point);
    }
    if (metricName === `${name}_sum`) point.sum = value ?? 0;
    else if (metricName === `${name}_count`) point.count = value ?? 0;
    else if (le !== undefined && le !== "+Inf") point.below.push([Number(le), value ?? 0]);
  }
  return [...points.values()].map(({ attributes, ...point }) => ({ attributes, value: betweenBoundaries(point) }));
}

function betweenBoundaries(point: { below: [number, number][]; sum: number; count: number }): HistogramValue {
  const below = [...point.below].sort(([one], [other]) => one - other);
  const counts = below.map(([, upTo], place) => upTo - (below[place - 1]?.[1] ?? 0));
  counts.push(point.count - (below.at(-1)?.[1] ?? 0));
  return { boundaries: below.map(([boundary]) => boundary), counts, sum: point.sum, count: point.count };
}
