import { Histogram, type Registry } from "./prometheus.ts";

/** One series of a histogram as plain numbers: to observe a value hashes no labels and makes no objects, and the scrape pays for the rest. */
export class HistogramTally {
  readonly labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  /** By bucket, each without those below it; what is beyond the last bound is in `count` alone. */
  readonly #buckets: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[], labels: Readonly<Record<string, string>>) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#buckets = bounds.map(() => 0);
  }

  /** What is no number is not counted. */
  observe(value: number): void {
    if (!Number.isFinite(value)) return;
    this.sum += value;
    this.count++;
    const bounds = this.#bounds;
    for (let index = 0; index < bounds.length; index++) {
      if (value > (bounds[index] ?? 0)) continue;
      this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
      return;
    }
  }

  /** How many values were at most each bound. */
  cumulated(): readonly number[] {
    let below = 0;
    return this.#buckets.map((count) => {
      below += count;
      return below;
    });
  }
}

export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly buckets: readonly number[];
}

/** Registers a histogram and gives the function that finds the tally of some label values, in the order of the names. */
export function registerHistogram(
  registry: Registry,
  options: HistogramOptions,
): (...values: readonly string[]) => HistogramTally {
  const { labelNames = [], buckets } = options;
  const tallies = new Map<string, HistogramTally>();
  const of = (...values: readonly string[]): HistogramTally => {
    const key = values.join("\n");
    const known = tallies.get(key);
    if (known !== undefined) return known;
    const labels = Object.fromEntries(labelNames.map((name, index) => [name, values[index] ?? ""]));
    const tally = new HistogramTally(buckets, labels);
    tallies.set(key, tally);
    return tally;
  };
  // Without labels there is one series from the beginning.
  if (labelNames.length === 0) of();
  registry.registerMetric(new TalliedHistogram({ ...options, labelNames }, tallies));
  return of;
}

interface ScrapedValue {
  readonly metricName: string;
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Of all values of the series. */
  readonly sharedLabels: HistogramTally["labels"];
}

/** As the library's registry asks for it. */
class TalliedHistogram extends Histogram<string> {
  readonly #options: Required<HistogramOptions>;
  readonly #tallies: ReadonlyMap<string, HistogramTally>;

  constructor(options: Required<HistogramOptions>, tallies: ReadonlyMap<string, HistogramTally>) {
    super({ ...options, buckets: [...options.buckets], registers: [] });
    this.#options = options;
    this.#tallies = tallies;
  }

  /** What the registry makes its text of, and the library's own `get` its JSON. */
  async getForPromString() {
    const { name, help } = this.#options;
    const values = [...this.#tallies.values()].flatMap((tally) => this.#valuesOf(tally));
    return { name, help, type: "histogram", values, aggregator: "sum" };
  }

  #valuesOf(tally: HistogramTally): ScrapedValue[] {
    const { name, buckets } = this.#options;
    const { labels: sharedLabels, count, sum } = tally;
    const below = tally.cumulated();
    return [
      ...buckets.map((le, index) => scraped(`${name}_bucket`, below[index] ?? 0, { le })),
      scraped(`${name}_bucket`, count, { le: "+Inf" }),
      scraped(`${name}_sum`, sum, {}),
      scraped(`${name}_count`, count, {}),
    ];

    function scraped(metricName: string, value: number, labels: ScrapedValue["labels"]): ScrapedValue {
      return { metricName, value, labels, sharedLabels };
    }
  }
}
