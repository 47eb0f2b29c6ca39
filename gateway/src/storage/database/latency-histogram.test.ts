import { expect, test } from "bun:test";
import fc from "fast-check";
import { addHistogram, histogramColumns } from "./latency-histogram.ts";
import { addSketch, noCounts, percentilesOf, sketchOf } from "./latency-sketch.ts";

const ends = Array.from({ length: 13 }, (_, span) => 50 * 2 ** span);
const longest = ends.at(-1) ?? 0;

/** As versions before the sketches counted. */
function histogramOf(times: readonly number[]): readonly number[] {
  const counts = histogramColumns.total_ms.map(() => 0);
  for (const ms of times) {
    const span = ends.findIndex((end) => ms <= end);
    const index = span === -1 ? ends.length : span;
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

function truePercentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

// Evenly over the orders of magnitude, and the ends of spans themselves.
const time = fc.oneof(
  fc.double({ min: 0, max: 20, noNaN: true }).map((power) => 2 ** power - 1),
  fc.constantFrom(0, ...ends),
);
const times = fc.array(time, { minLength: 1, maxLength: 300 });
/** What narrow spans take away from a bound: see the sketch. */
const near = 1.02;

test("of rollups of earlier versions, a percentile is between half and twice of the true one", () => {
  fc.assert(
    fc.property(times, times, fc.boolean(), fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), (old, fresh, mixed, share) => {
      const counts = noCounts();
      addHistogram(counts, histogramOf(old));
      if (mixed) addSketch(counts, fresh.map(sketchOf).join(""));
      const truth = truePercentile(mixed ? [...old, ...fresh] : old, share);
      const told = percentilesOf(counts, [share])[0] ?? Number.NaN;
      if (truth <= 50) expect(told).toBeLessThanOrEqual(50 * near);
      else {
        expect(told).toBeGreaterThanOrEqual(Math.min(truth, longest) / 2 / near);
        expect(told).toBeLessThanOrEqual(truth * 2 * near);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("what longer spans count is all there among the narrow ones", () => {
  fc.assert(
    fc.property(times, (all) => {
      const counts = noCounts();
      addHistogram(counts, histogramOf(all));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBeCloseTo(all.length, 6);
    }),
  );
});
