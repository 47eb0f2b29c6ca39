import { expect, test } from "bun:test";
import fc from "fast-check";
import { columnFor, columnsOf, percentileOf, spanEnds, spansOf } from "./latency-histogram.ts";

const columns = columnsOf("total_ms");
const longest = spanEnds.at(-1) ?? 0;

function countsOf(durations: readonly number[]): number[] {
  const counts = columns.map(() => 0);
  for (const ms of durations) {
    const index = columns.indexOf(columnFor("total_ms", ms));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

/** The smallest that so large a share of all is not longer than. */
function truePercentile(durations: readonly number[], share: number): number {
  const sorted = durations.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

// Evenly over the orders of magnitude, and the ends of spans themselves.
const duration = fc.oneof(
  fc.double({ min: 0, max: 20, noNaN: true }).map((power) => 2 ** power - 1),
  fc.constantFrom(0, ...spanEnds),
);

test("a percentile is within 50 ms of the true one, or between half and twice of it", () => {
  const durations = fc.array(duration, { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(durations, fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), (all, share) => {
      const truth = truePercentile(all, share);
      const told = percentileOf(countsOf(all), share) ?? Number.NaN;
      if (truth <= 50) expect(Math.abs(told - truth)).toBeLessThanOrEqual(50);
      else if (truth > longest) expect(told).toBe(longest);
      else {
        expect(told).toBeGreaterThanOrEqual(truth / 2);
        expect(told).toBeLessThanOrEqual(truth * 2);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("each duration is counted in the one span that holds it", () => {
  fc.assert(
    fc.property(duration, (ms) => {
      const holding = spansOf("total_ms").filter(
        ({ from, to }) => (from === null || ms > from) && (to === null || ms <= to),
      );
      expect(holding.map(({ column }) => column)).toEqual([columnFor("total_ms", ms)]);
    }),
  );
});

test("a higher share is never a shorter time, and nothing counted is no time at all", () => {
  fc.assert(
    fc.property(fc.array(duration, { minLength: 1 }), (all) => {
      const counts = countsOf(all);
      const told = [0.1, 0.5, 0.9, 0.95, 1].map((share) => percentileOf(counts, share) ?? Number.NaN);
      expect(told).toEqual(told.toSorted((a, b) => a - b));
    }),
  );
  expect(percentileOf(countsOf([]), 0.5)).toBeNull();
});
