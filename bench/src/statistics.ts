/** Summary of repeated measurements: median and spread. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly samples: readonly number[];
}

export function spread(samples: readonly number[]): Spread | null {
  if (samples.length === 0) return null;
  const sorted = [...samples].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), min: quantile(sorted, 0), max: quantile(sorted, 1), samples };
}

/** Linear interpolation between the two nearest ranks of an ascending list; NaN for an empty one. */
export function quantile(ascending: ArrayLike<number>, share: number): number {
  const place = (ascending.length - 1) * share;
  const low = ascending[Math.floor(place)] ?? Number.NaN;
  const high = ascending[Math.ceil(place)] ?? low;
  return low + (high - low) * (place - Math.floor(place));
}

/** Quantiles for latency figures. Samples may be in any order. */
export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export function quantiles(samples: Float64Array | readonly number[]): Quantiles {
  const sorted = Float64Array.from(samples).sort();
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
  };
}

/** Slope of the least-squares line through points: units of y per unit of x. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const over = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const under = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

/** Mean without the smallest and largest `share` of the samples. NaN for an empty list. */
export function trimmedMean(samples: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(samples).sort();
  const cut = Math.floor(sorted.length * share);
  const middle = sorted.subarray(cut, sorted.length - cut);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** Estimate with its 95 % confidence interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Bootstrap confidence interval of `of`: resamples each group with replacement. `groups`: samples that were measured together.
 * `chance`: returns random numbers in [0, 1).
 */
export function bootstrapped(
  groups: readonly (readonly number[])[],
  of: (samples: Float64Array) => number,
  chance: () => number = Math.random,
): Interval {
  const all = Float64Array.from(groups.flat());
  const drawn = new Float64Array(all.length);
  const values = Float64Array.from({ length: bootstrapRounds }, () => {
    let at = 0;
    for (const group of groups) {
      for (let left = group.length; left > 0; left--) {
        drawn[at++] = group[Math.floor(chance() * group.length)] ?? Number.NaN;
      }
    }
    return of(drawn);
  }).sort();
  return { value: of(all), low: quantile(values, 0.025), high: quantile(values, 0.975) };
}

const bootstrapRounds = 2_000;
