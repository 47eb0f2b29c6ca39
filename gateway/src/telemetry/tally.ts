import type { HistogramValue, MetricReport, ReportedMetric, ReportedPoint } from "./metric-reports.ts";
import { gaugeRules, type MetricName, metricHelp } from "./metric-table.ts";

/** Counters by label value, so that counting needs one lookup. The first `max` values have their own; the others share `other`. */
export class Series<Value extends string | number, Child> {
  readonly #children = new Map<Value, Child>();
  readonly #max: number;
  readonly #make: (value: Value | "other") => Child;
  #other: Child | null = null;

  constructor(max: number, make: (value: Value | "other") => Child) {
    this.#max = max;
    this.#make = make;
  }

  of(value: Value): Child {
    return this.#children.get(value) ?? this.#add(value);
  }

  all(): readonly Child[] {
    return this.#other === null ? [...this.#children.values()] : [...this.#children.values(), this.#other];
  }

  #add(value: Value): Child {
    if (this.#children.size >= this.#max) {
      this.#other ??= this.#make("other");
      return this.#other;
    }
    const child = this.#make(value);
    this.#children.set(value, child);
    return child;
  }
}

/** One series of a counter. Counting touches no labels; the scrape adds them. */
export interface Tally {
  count: number;
}

/** One series of a histogram. A value equal to a boundary counts below it. */
export class Distribution implements HistogramValue {
  readonly boundaries: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(boundaries: readonly number[]) {
    this.boundaries = boundaries;
    this.counts = new Array<number>(boundaries.length + 1).fill(0);
  }

  /** Ignores values that are not finite. */
  observe(value: number): void {
    if (!Number.isFinite(value)) return;
    let bucket = 0;
    while (bucket < this.boundaries.length && value > (this.boundaries[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
    this.count++;
  }
}

type Labels = Readonly<Record<string, string>>;
type Points = readonly ReportedPoint[];

/** The metrics of one process, in the order of their registration. */
export class Registry {
  readonly #metrics = new Map<MetricName, () => ReportedMetric | Promise<ReportedMetric>>();

  async report(): Promise<MetricReport> {
    return await Promise.all([...this.#metrics.values()].map((metric) => metric()));
  }

  /** Adds a counter (if its name ends in `_total`) or gauge whose series are read at each report. A name may be added once. */
  read(name: MetricName, read: () => Points | Promise<Points>): void {
    this.#add(name, name.endsWith("_total") ? "counter" : "gauge", read);
  }

  /** Like `read`, for one number without labels. If the reader throws, the other metrics are still reported. */
  number(name: MetricName, read: () => number): void {
    this.read(name, () => {
      const value = readOr(read, Number.NaN);
      // NaN would spoil sums over workers; for a gauge it shows that the value is unknown.
      return Number.isNaN(value) && name.endsWith("_total") ? [] : [{ labels: {}, value }];
    });
  }

  /** Adds a counter and returns a function that finds its series by labels. `shown` converts a count to the unit of the metric. */
  tallies(name: MetricName, shown = (count: number): number => count): (labels: Labels) => Tally {
    return this.#children(
      name,
      "counter",
      () => ({ count: 0 }),
      ({ count }: Tally) => shown(count),
    );
  }

  /** Like `tallies`, for a histogram. */
  histogram(name: MetricName, buckets: readonly number[]): (labels: Labels) => Distribution {
    return this.#children(
      name,
      "histogram",
      () => new Distribution(buckets),
      (distribution) => distribution,
    );
  }

  #children<Child>(
    name: MetricName,
    type: ReportedMetric["type"],
    make: () => Child,
    shown: (child: Child) => ReportedPoint["value"],
  ): (labels: Labels) => Child {
    const children = new Map<string, { readonly labels: Labels; readonly child: Child }>();
    this.#add(name, type, () => [...children.values()].map(({ labels, child }) => ({ labels, value: shown(child) })));
    return (labels) => {
      const key = Object.values(labels).join("\n");
      const series = children.get(key) ?? { labels, child: make() };
      children.set(key, series);
      return series.child;
    };
  }

  #add(name: MetricName, type: ReportedMetric["type"], read: () => Points | Promise<Points>): void {
    if (this.#metrics.has(name)) throw new Error(`The metric ${name} is registered twice.`);
    const merge = gaugeRules[name];
    const metric = { name, help: metricHelp[name], type, ...(merge === undefined ? {} : { merge }) };
    this.#metrics.set(name, async () => ({ ...metric, points: await read() }));
  }
}

/** Returns the result of `read`, or `fallback` if it throws. */
export function readOr<Value>(read: () => Value, fallback: Value): Value {
  try {
    return read();
  } catch {
    return fallback;
  }
}
