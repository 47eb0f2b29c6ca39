import { expect, test } from "bun:test";
import { bootstrapped, quantile, quantiles, slope, spread, trimmedMean } from "./statistics.ts";

test("summarizes rounds with median, minimum and maximum", () => {
  expect(spread([9, 1, 5])).toEqual({ median: 5, min: 1, max: 9, samples: [9, 1, 5] });
  expect(spread([4, 2])?.median).toBe(3);
  expect(spread([])).toBeNull();
});

test("interpolates the 99th percentile between the two nearest ranks", () => {
  const hundred = Array.from({ length: 101 }, (_, index) => index);
  expect(quantile(hundred, 0.99)).toBe(99);
  expect(quantile([0, 10], 0.25)).toBe(2.5);
  expect(quantile([], 0.5)).toBeNaN();
});

test("latency quantiles do not depend on the order of samples", () => {
  expect(quantiles([3, 1, 2])).toEqual(quantiles([1, 2, 3]));
  expect(quantiles(new Float64Array([10, 30, 20])).p50).toBe(20);
});

test("memory growth is the slope of the line through all samples, and 0 for constant samples", () => {
  expect(
    slope([
      [0, 5],
      [1, 7],
      [2, 9],
    ]),
  ).toBeCloseTo(2);
  expect(
    slope([
      [0, 5],
      [1, 5],
      [2, 5],
    ]),
  ).toBe(0);
  expect(slope([[1, 5]])).toBe(0);
});

test("a trimmed mean ignores outliers", () => {
  expect(trimmedMean([1, 2, 3, 4, 1_000], 0.2)).toBe(3);
  expect(trimmedMean([1, 3], 0)).toBe(2);
  expect(trimmedMean([], 0.1)).toBeNaN();
});

test("an interval contains the value, narrows with more samples, and has no width for equal samples", () => {
  let seed = 1;
  const chance = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const mean = (samples: Float64Array) => trimmedMean(samples, 0);
  const few = bootstrapped([[1, 2, 3, 4]], mean, chance);
  const many = bootstrapped([[1, 2, 3, 4], Array.from({ length: 96 }, (_, at) => (at % 4) + 1)], mean, chance);
  expect(few.value).toBe(2.5);
  expect(few.low).toBeLessThan(2.5);
  expect(few.high).toBeGreaterThan(2.5);
  expect(many.high - many.low).toBeLessThan(few.high - few.low);
  expect(bootstrapped([[7, 7, 7]], mean, chance)).toEqual({ value: 7, low: 7, high: 7 });
});
