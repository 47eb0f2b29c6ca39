import type { HistogramValue, MetricReport, ReportedMetric, ReportedPoint } from "./metric-reports.ts";
import { gaugeRules, type MetricName, metricHelp } from "./metric-table.ts";

/**
 * What is kept for one label value, made once, so that counting looks nothing up but this. The first `max` values have
 * their own; every later one shares `other`.
 */
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

  /** What was made so far, with what the others share. */
  made(): readonly Child[] {
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

/** One series of a counter as a plain number: adding to it hashes no labels, and the scrape pays for the rest. */
export interface Tally {
  count: number;
}

/** One series of a histogram in the same way. A value on a boundary belongs below it. */
export class Distribution implements HistogramValue {
  readonly boundaries: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(boundaries: readonly number[]) {
    this.boundaries = boundaries;
    this.counts = new Array<number>(boundaries.length + 1).fill(0);
  }

  /** What is no number is not counted. */
  observe(value: number): void {
    if (!Number.isFinite(value)) return;
    let place = 0;
    while (place < this.boundaries.length && value > (this.boundaries[place] ?? 0)) place++;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
    this.count++;
  }
}

type Labels = Readonly<Record<string, string>>;
type Points = readonly ReportedPoint[];

/** The metrics of one process, in the order in which they were added. */
export class Registry {
  readonly #metrics = new Map<MetricName, () => ReportedMetric | Promise<ReportedMetric>>();

  async report(): Promise<MetricReport> {
    return await Promise.all([...this.#metrics.values()].map((metric) => metric()));
  }

  /** A counter or gauge, by its name, whose series are read at each report. A name may be added once. */
  read(name: MetricName, read: () => Points | Promise<Points>): void {
    this.#add(name, name.endsWith("_total") ? "counter" : "gauge", read);
  }

  /** The same without labels. One reader that fails does not take the other numbers with it. */
  number(name: MetricName, read: () => number): void {
    this.read(name, () => {
      const value = numberOr(read, Number.NaN);
      // Sums over workers would stay NaN; a gauge shows that it cannot be read.
      return Number.isNaN(value) && name.endsWith("_total") ? [] : [{ labels: {}, value }];
    });
  }

  /** Adds a counter and returns the function that finds the tally of some labels. `shown`: a count in the unit of the metric. */
  tallies(name: MetricName, shown = (count: number): number => count): (labels: Labels) => Tally {
    return this.#children(
      name,
      "counter",
      () => ({ count: 0 }),
      ({ count }: Tally) => shown(count),
    );
  }

  /** The same of a histogram. */
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
      const known = children.get(key) ?? { labels, child: make() };
      children.set(key, known);
      return known.child;
    };
  }

  #add(name: MetricName, type: ReportedMetric["type"], read: () => Points | Promise<Points>): void {
    if (this.#metrics.has(name)) throw new Error(`The metric ${name} is there already.`);
    const merge = gaugeRules[name];
    const metric = { name, help: metricHelp[name], type, ...(merge === undefined ? {} : { merge }) };
    this.#metrics.set(name, async () => ({ ...metric, points: await read() }));
  }
}

/** What `read` returns, or `otherwise` where it fails. */
export function numberOr<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
