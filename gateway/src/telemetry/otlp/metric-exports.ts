import { bounds } from "#core/index.ts";
import type { HistogramValue, ReportedMetric, ReportedPoint } from "../metric-reports.ts";

type Value = number | HistogramValue;

/** A metric as it is exported. Times are Unix milliseconds. */
export interface ExportedMetric extends Omit<ReportedMetric, "points"> {
  readonly points: readonly (ReportedPoint & { readonly value: Value })[];
  readonly isDelta: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Turns reports into exports. With temporality `delta` an export holds what was added since the last successful one: call `sent`
 * when an export succeeded.
 */
export class MetricExports {
  readonly #temporality: "cumulative" | "delta";
  readonly #startMs: number;
  #lastSent: Snapshot;
  #pending: Snapshot | null = null;

  constructor(temporality: "cumulative" | "delta", startMs: number) {
    this.#temporality = temporality;
    this.#startMs = startMs;
    this.#lastSent = { values: new Map(), atMs: startMs };
  }

  of(metrics: readonly ReportedMetric[], nowMs: number): ExportedMetric[] {
    const isDelta = this.#temporality === "delta";
    const values = new Map<string, Value>();
    this.#pending = { values, atMs: nowMs };
    const startMs = isDelta ? this.#lastSent.atMs : this.#startMs;
    return metrics.flatMap((metric) => {
      const points = metric.points.flatMap(({ labels, value }) => {
        if (value === null || (typeof value === "number" && !Number.isFinite(value))) return [];
        if (!isDelta || metric.type === "gauge") return [{ labels, value }];
        const key = `${metric.name} ${JSON.stringify(labels)}`;
        if (values.size >= bounds.deltaSeriesMax) return [];
        values.set(key, copyOf(value));
        const difference = differenceOf(value, this.#lastSent.values.get(key));
        return difference === null ? [] : [{ labels, value: difference }];
      });
      if (points.length === 0) return [];
      return [{ ...metric, points, isDelta: isDelta && metric.type !== "gauge", startMs, endMs: nowMs }];
    });
  }

  sent(): void {
    if (this.#pending !== null) this.#lastSent = this.#pending;
    this.#pending = null;
  }
}

interface Snapshot {
  readonly values: ReadonlyMap<string, Value>;
  readonly atMs: number;
}

/** A copy, because the values of a report keep changing. */
function copyOf(value: Value): Value {
  if (typeof value === "number") return value;
  const { boundaries, counts, sum, count } = value;
  return { boundaries, counts: [...counts], sum, count };
}

/** null if nothing was added. */
function differenceOf(now: Value, before: Value | undefined): Value | null {
  if (typeof now === "number") {
    const added = now - (typeof before === "number" ? before : 0);
    return added === 0 ? null : added;
  }
  const last = typeof before === "object" ? before : null;
  const count = now.count - (last?.count ?? 0);
  if (count === 0) return null;
  return {
    boundaries: now.boundaries,
    counts: now.counts.map((value, index) => value - (last?.counts[index] ?? 0)),
    sum: now.sum - (last?.sum ?? 0),
    count,
  };
}
