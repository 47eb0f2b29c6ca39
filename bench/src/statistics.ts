/** What is said of repeated measurements: the median, and how far they spread. */
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

/** Quantiles that are spoken of in latency figures, of samples in any order. */
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

/** The slope of a straight line through points, by least squares: units of y per unit of x. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const over = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const under = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
