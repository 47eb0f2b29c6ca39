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
