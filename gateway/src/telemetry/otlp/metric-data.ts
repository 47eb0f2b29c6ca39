import { bounds } from "#core/index.ts";
import type { HistogramValue, ReportedMetric, ReportedPoint } from "../metric-reports.ts";

/** A number that can be told. */
type Value = number | HistogramValue;

/** What is told of a metric: its points, and since when. Unix milliseconds. */
export interface ToldMetric extends Omit<ReportedMetric, "points"> {
  readonly points: readonly (ReportedPoint & { readonly value: Value })[];
  readonly isDelta: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

/** With `delta` each export tells what was added since the last one that arrived: `sent` says that the latest did. */
export class MetricData {
  readonly #temporality: "cumulative" | "delta";
  readonly #startMs: number;
  #told = new Map<string, Value>();
  #toldMs: number;
  #telling: { readonly values: Map<string, Value>; readonly atMs: number } | null = null;

  constructor(temporality: "cumulative" | "delta", startMs: number) {
    this.#temporality = temporality;
    this.#startMs = startMs;
    this.#toldMs = startMs;
  }

  of(metrics: readonly ReportedMetric[], nowMs: number): ToldMetric[] {
    const isDelta = this.#temporality === "delta";
    const values = new Map<string, Value>();
    this.#telling = { values, atMs: nowMs };
    const startMs = isDelta ? this.#toldMs : this.#startMs;
    return metrics.flatMap((metric) => {
      const points = metric.points.flatMap(({ labels, value }) => {
        if (value === null || (typeof value === "number" && !Number.isFinite(value))) return [];
        if (!isDelta || metric.type === "gauge") return [{ labels, value }];
        const key = `${metric.name} ${JSON.stringify(labels)}`;
        if (values.size >= bounds.metricSeriesToldMax) return [];
        values.set(key, copyOf(value));
        const added = addedTo(value, this.#told.get(key));
        return added === null ? [] : [{ labels, value: added }];
      });
      if (points.length === 0) return [];
      return [{ ...metric, points, isDelta: isDelta && metric.type !== "gauge", startMs, endMs: nowMs }];
    });
  }

  /** The latest ones are where they belong. */
  sent(): void {
    if (this.#telling === null) return;
    this.#told = this.#telling.values;
    this.#toldMs = this.#telling.atMs;
    this.#telling = null;
  }
}

function copyOf(value: Value): Value {
  return typeof value === "number"
    ? value
    : { ...value, counts: [...value.counts], sum: value.sum, count: value.count };
}

/** null: nothing came since. */
function addedTo(now: Value, before: Value | undefined): Value | null {
  if (typeof now === "number") {
    const added = now - (typeof before === "number" ? before : 0);
    return added === 0 ? null : added;
  }
  const told: HistogramValue | null = typeof before === "object" ? before : null;
  const count = now.count - (told?.count ?? 0);
  if (count === 0) return null;
  return {
    boundaries: now.boundaries,
    counts: now.counts.map((value, place) => value - (told?.counts[place] ?? 0)),
    sum: now.sum - (told?.sum ?? 0),
    count,
  };
}
