/** How the gauges of several processes become one: their sum, the largest, the smallest. Counters and histograms are summed. */
export type GaugeRule = "sum" | "max" | "min";

interface ReportedValue {
  /** Of a histogram's bucket, sum or count: its own name. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  /** null: not a number, which JSON cannot say. */
  readonly value: number | null;
}

/** One metric of one process. */
interface ReportedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly ReportedValue[];
}

/** The numbers of one process, as they go from one to another. */
export type MetricReport = readonly ReportedMetric[];

/** One report of several. Metrics and series come in the order in which they are first met. */
export function mergeReports(reports: readonly MetricReport[]): MetricReport {
  const merged = new Map<string, { readonly metric: ReportedMetric; readonly values: Map<string, ReportedValue> }>();
  for (const metric of reports.flat()) {
    let found = merged.get(metric.name);
    if (found === undefined) {
      found = { metric, values: new Map() };
      merged.set(metric.name, found);
    }
    for (const value of metric.values) {
      const series = seriesOf(metric.name, value);
      const before = found.values.get(series);
      found.values.set(
        series,
        before === undefined ? value : { ...value, value: ruleOf(metric)(numberOf(before), numberOf(value)) },
      );
    }
  }
  return [...merged.values()].map(({ metric, values }) => ({ ...metric, values: [...values.values()] }));
}

/** What only grows of several reports: it outlives the processes that counted it. */
export function mergeCounts(reports: readonly MetricReport[]): MetricReport {
  return mergeReports(reports.map((report) => report.filter(({ type }) => type !== "gauge")));
}

/** Prometheus' text format, version 0.0.4. */
export function reportText(report: MetricReport): string {
  const blocks = report.map(({ name, help, type, values }) => {
    const lines = values.map((value) => `${seriesOf(name, value)} ${numberText(numberOf(value))}`);
    return [`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

/** The value of a metric without labels; null: it is not there. */
export function valueIn(report: MetricReport, name: string): number | null {
  return report.find((metric) => metric.name === name)?.values[0]?.value ?? null;
}

function ruleOf({ type, aggregator }: ReportedMetric): (one: number, other: number) => number {
  if (type !== "gauge") return sum;
  return aggregator === "max" ? Math.max : aggregator === "min" ? Math.min : sum;
}

function numberOf({ value }: ReportedValue): number {
  return value ?? Number.NaN;
}

function sum(one: number, other: number): number {
  return one + other;
}

function seriesOf(name: string, { metricName, labels }: ReportedValue): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${escapedLabel(String(value))}"`);
  return parts.length === 0 ? (metricName ?? name) : `${metricName ?? name}{${parts.join(",")}}`;
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
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
