import { bounds } from "#core/index.ts";
import type { HistogramValue, MeasuredMetric, MeasuredPoint } from "./measured-metric.ts";
import { type HrTime, hrTime, type SdkMetric } from "./sdk-types.ts";

// OpenTelemetry's enumerations: DataPointType and AggregationTemporality.
const dataPointTypes = { histogram: 0, gauge: 2, sum: 3 } as const;
const temporalities = { delta: 0, cumulative: 1 } as const;

/**
 * Metrics in the form in which OpenTelemetry's exporter takes them. With `delta` each export tells what was added since the last one
 * that arrived: `sent` says that the latest did.
 */
export class MetricData {
  readonly #temporality: "cumulative" | "delta";
  readonly #startMs: number;
  #told = new Map<string, MeasuredPoint["value"]>();
  #toldMs: number;
  #telling: { readonly values: Map<string, MeasuredPoint["value"]>; readonly atMs: number } | null = null;

  constructor(temporality: "cumulative" | "delta", startMs: number) {
    this.#temporality = temporality;
    this.#startMs = startMs;
    this.#toldMs = startMs;
  }

  of(metrics: readonly MeasuredMetric[], nowMs: number): SdkMetric[] {
    const isDelta = this.#temporality === "delta";
    const values = new Map<string, MeasuredPoint["value"]>();
    this.#telling = { values, atMs: nowMs };
    const startTime = hrTime(isDelta ? this.#toldMs : this.#startMs);
    const endTime = hrTime(nowMs);
    return metrics.flatMap((metric) => {
      const dataPoints = metric.points.flatMap(({ attributes, value }) => {
        if (!isDelta || metric.kind === "gauge") return [pointOf(attributes, value, startTime, endTime)];
        const key = `${metric.name} ${JSON.stringify(attributes)}`;
        if (values.size >= bounds.metricSeriesToldMax) return [];
        values.set(key, copyOf(value));
        const added = addedTo(value, this.#told.get(key));
        return added === null ? [] : [pointOf(attributes, added, startTime, endTime)];
      });
      return dataPoints.length === 0 ? [] : [metricOf(metric, dataPoints, isDelta)];
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

function metricOf({ name, unit, help, kind }: MeasuredMetric, dataPoints: unknown[], isDelta: boolean): SdkMetric {
  return {
    descriptor: { name, unit, description: help, valueType: 1 },
    aggregationTemporality: isDelta && kind !== "gauge" ? temporalities.delta : temporalities.cumulative,
    dataPointType: dataPointTypes[kind],
    ...(kind === "sum" ? { isMonotonic: true } : {}),
    dataPoints,
  } as unknown as SdkMetric;
}

function pointOf(
  attributes: MeasuredPoint["attributes"],
  value: MeasuredPoint["value"],
  startTime: HrTime,
  endTime: HrTime,
) {
  const told =
    typeof value === "number"
      ? value
      : {
          buckets: { boundaries: [...value.boundaries], counts: [...value.counts] },
          sum: value.sum,
          count: value.count,
          hasMinMax: false,
        };
  return { attributes, startTime, endTime, value: told };
}

function copyOf(value: MeasuredPoint["value"]): MeasuredPoint["value"] {
  return typeof value === "number"
    ? value
    : { ...value, counts: [...value.counts], sum: value.sum, count: value.count };
}

/** null: nothing came since. */
function addedTo(
  now: MeasuredPoint["value"],
  before: MeasuredPoint["value"] | undefined,
): MeasuredPoint["value"] | null {
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
