/** How the gauges of several processes become one; left out: their sum. Counters and histograms are summed. */
export type GaugeRule = "max" | "min";

/** A histogram as it stands: `counts` has one more place than `boundaries`, for what is above them all. */
export interface HistogramValue {
  readonly boundaries: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export interface ReportedPoint {
  readonly labels: Readonly<Record<string, string | number>>;
  /** null: not a number, which JSON cannot say. */
  readonly value: number | HistogramValue | null;
}

/** One metric of one process, counted since it began. */
export interface ReportedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** For collectors; left out: as its name says. */
  readonly unit?: string;
  readonly merge?: GaugeRule;
  readonly points: readonly ReportedPoint[];
}

/** The numbers of one process, as they go from one to another. */
export type MetricReport = readonly ReportedMetric[];

/** One report of several. Metrics and series come in the order in which they are first met. */
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

/** What only grows of several reports: it outlives the processes that counted it. */
export function mergeCounts(reports: readonly MetricReport[]): MetricReport {
  return mergeReports(reports.map((report) => report.filter(({ type }) => type !== "gauge")));
}

function mergedValue({ merge }: ReportedMetric, { value: one }: ReportedPoint, { value: other }: ReportedPoint) {
  if (typeof one === "object" && one !== null && typeof other === "object" && other !== null) {
    const counts = one.counts.map((count, place) => count + (other.counts[place] ?? 0));
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

/** Prometheus counts what is at most each boundary. */
function histogramLines(name: string, labels: ReportedPoint["labels"], value: HistogramValue): string[] {
  let below = 0;
  const buckets = value.boundaries.map((le, place) => {
    below += value.counts[place] ?? 0;
    return `${seriesOf(`${name}_bucket`, { le, ...labels })} ${below}`;
  });
  return [
    ...buckets,
    `${seriesOf(`${name}_bucket`, { le: "+Inf", ...labels })} ${value.count}`,
    `${seriesOf(`${name}_sum`, labels)} ${numberText(value.sum)}`,
    `${seriesOf(`${name}_count`, labels)} ${value.count}`,
  ];
}

/** The value of a metric without labels; null: it is not there. */
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
