/** How the gauges of several processes are merged; summed by default, as counters and histograms are. */
export type GaugeRule = "max" | "min";

/** `counts` has one more item than `boundaries`, for values above the last one. */
export interface HistogramValue {
  readonly boundaries: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export interface ReportedPoint {
  readonly labels: Readonly<Record<string, string | number>>;
  /** null means NaN, which JSON cannot express. */
  readonly value: number | HistogramValue | null;
}

/** One metric of one process, counted since its start. */
export interface ReportedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** For collectors; derived from the name by default. */
  readonly unit?: string;
  readonly merge?: GaugeRule;
  readonly points: readonly ReportedPoint[];
}

/** The metrics of one process, which processes send to each other. */
export type MetricReport = readonly ReportedMetric[];

/** Metrics and series keep the order of their first occurrence. */
export function mergeReports(reports: readonly MetricReport[]): MetricReport {
  const merged = new Map<string, { readonly metric: ReportedMetric; readonly points: Map<string, ReportedPoint> }>();
  for (const metric of reports.flat()) {
    const found = merged.get(metric.name) ?? { metric, points: new Map<string, ReportedPoint>() };
    merged.set(metric.name, found);
    for (const point of metric.points) {
      const series = seriesOf(metric.name, point.labels);
      const before = found.points.get(series);
      found.points.set(series, before === undefined ? point : { ...point, value: mergedValue(metric, before, point) });
    }
  }
  return [...merged.values()].map(({ metric, points }) => ({ ...metric, points: [...points.values()] }));
}

/** Merges counters and histograms only, which are kept when a process ends. */
export function mergeCounts(reports: readonly MetricReport[]): MetricReport {
  return mergeReports(reports.map((report) => report.filter(({ type }) => type !== "gauge")));
}

function mergedValue({ merge }: ReportedMetric, { value: one }: ReportedPoint, { value: other }: ReportedPoint) {
  if (typeof one === "object" && one !== null && typeof other === "object" && other !== null) {
    const counts = one.counts.map((count, bucket) => count + (other.counts[bucket] ?? 0));
    return { ...one, counts, sum: one.sum + other.sum, count: one.count + other.count };
  }
  const [a, b] = [numberOf(one), numberOf(other)];
  return merge === undefined ? a + b : Math[merge](a, b);
}

export const reportType = "text/plain; version=0.0.4; charset=utf-8";

/** Prometheus' text format, version 0.0.4. */
export function reportText(report: MetricReport): string {
  const blocks = report.map(({ name, help, type, points }) => {
    const lines = points.flatMap(({ labels, value }) =>
      typeof value === "object" && value !== null
        ? histogramLines(name, labels, value)
        : [`${seriesOf(name, labels)} ${numberText(numberOf(value))}`],
    );
    return [`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

/** Buckets of Prometheus are cumulative. */
function histogramLines(name: string, labels: ReportedPoint["labels"], value: HistogramValue): string[] {
  let below = 0;
  const buckets = value.boundaries.map((le, bucket) => {
    below += value.counts[bucket] ?? 0;
    return `${seriesOf(`${name}_bucket`, { le, ...labels })} ${below}`;
  });
  return [
    ...buckets,
    `${seriesOf(`${name}_bucket`, { le: "+Inf", ...labels })} ${value.count}`,
    `${seriesOf(`${name}_sum`, labels)} ${numberText(value.sum)}`,
    `${seriesOf(`${name}_count`, labels)} ${value.count}`,
  ];
}

/** The value of a metric without labels; null if it is missing. */
export function valueIn(report: MetricReport, name: string): number | null {
  const value = report.find((metric) => metric.name === name)?.points[0]?.value;
  return typeof value === "number" ? value : null;
}

function numberOf(value: ReportedPoint["value"]): number {
  return typeof value === "number" ? value : Number.NaN;
}

function seriesOf(name: string, labels: ReportedPoint["labels"]): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${escapedLabel(String(value))}"`);
  return parts.length === 0 ? name : `${name}{${parts.join(",")}}`;
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return Number.isNaN(value) ? "Nan" : String(value);
}

function escapedHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapedLabel(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}
