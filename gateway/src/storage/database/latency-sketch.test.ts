import { expect, test } from "bun:test";
import fc from "fast-check";
import { taskDeadlineMsMax } from "#tasks/accept/create.ts";
import {
  addSketch,
  foldedSketch,
  lastSpan,
  longestMs,
  noCounts,
  percentilesOf,
  sketchOf,
  spanEndMs,
  spanOf,
} from "./latency-sketch.ts";

const errorMax = 0.02;
const shares = [0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1];

function quantile(sketch: string, share: number): number {
  const counts = noCounts();
  addSketch(counts, sketch);
  return percentilesOf(counts, [share])[0] ?? Number.NaN;
}

/** The smallest value that at least this share of the values does not exceed. */
function truePercentile(times: readonly number[], share: number): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

function expectNear(sketch: string, times: readonly number[]): void {
  const counts = noCounts();
  addSketch(counts, sketch);
  expect(percentilesOf(counts, shares)).toEqual(shares.map((share) => quantile(sketch, share)));
  for (const share of shares) {
    const truth = truePercentile(times, share);
    expect(Math.abs(quantile(sketch, share) - truth) / truth).toBeLessThanOrEqual(errorMax);
  }
}

/** The same numbers for the same seed, in [0, 1). */
function chance(seed: number): () => number {
  let n = 0;
  return () => Bun.hash.xxHash32(`${seed} ${n++}`) / 2 ** 32;
}

const distributions: Readonly<Record<string, (random: () => number) => number>> = {
  "as answers of models take": (random) => 900 * Math.exp(1.8 * (random() + random() + random() - 1.5)),
  "two peaks, far apart": (random) => (random() < 0.9 ? 40 + 20 * random() : 30_000 + 9_000 * random()),
  "a long tail": (random) => Math.min(longestMs, 5 / (1 - random()) ** 1.5),
  "evenly up to a minute": (random) => 1 + 60_000 * random(),
  "all alike": () => 1_234.5,
  "evenly over the orders of magnitude": (random) => longestMs ** random(),
};

test.each(Object.entries(distributions))("percentiles are within 2 % of the true ones: %s", (_name, draw) => {
  for (const seed of [1, 2, 3]) {
    const random = chance(seed);
    const times = Array.from({ length: 5_000 }, () => draw(random));
    expectNear(foldedSketch(times.map(sketchOf).join("")), times);
  }
});

const time = fc.double({ min: 0, max: Math.log2(taskDeadlineMsMax), noNaN: true }).map((power) => 2 ** power);

test("merging and folding sketches in any order gives the same result", () => {
  type Tree = readonly number[] | { readonly left: Tree; readonly right: Tree; readonly folded: boolean };
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { depthSize: "medium" },
      fc.array(time, { maxLength: 40 }),
      fc.record({ left: tie("tree"), right: tie("tree"), folded: fc.boolean() }),
    ),
  }));
  const timesOf = (each: Tree): readonly number[] =>
    "left" in each ? [...timesOf(each.left), ...timesOf(each.right)] : each;
  const mergedOf = (each: Tree): string => {
    if (!("left" in each)) return each.map(sketchOf).join("");
    const both = mergedOf(each.left) + mergedOf(each.right);
    return each.folded ? foldedSketch(both) : both;
  };
  fc.assert(
    fc.property(tree, (each) => {
      const times = timesOf(each);
      const merged = mergedOf(each);
      expect(foldedSketch(merged)).toBe(foldedSketch(times.map(sketchOf).join("")));
      expect(sketchTotal(merged)).toBe(times.length);
      if (times.length > 0) expectNear(merged, times);
    }),
    { numRuns: 500 },
  );
});

test("counts a duration in its span, up to the longest", () => {
  expect(longestMs).toBeGreaterThan(taskDeadlineMsMax);
  fc.assert(
    fc.property(time, (ms) => {
      const span = spanOf(ms);
      // Within the precision of a double.
      expect(ms).toBeLessThanOrEqual(spanEndMs(span) * (1 + 1e-12));
      expect(ms).toBeGreaterThan(spanEndMs(span - 1) * (1 - 1e-12));
    }),
  );
  for (const [ms, span] of [
    [0, 0],
    [0.99, 0],
    [-1, 0],
    [Number.NaN, 0],
    [longestMs * 9, lastSpan],
  ] as const) {
    expect(spanOf(ms)).toBe(span);
  }
});

test("reads counts of any size back from the text", () => {
  const one = sketchOf(1_000);
  for (const doublings of [0, 4, 5, 6, 10, 20]) {
    let sketch = one;
    for (let n = 0; n < doublings; n++) sketch = foldedSketch(sketch + sketch);
    expect(sketchTotal(sketch)).toBe(2 ** doublings);
    expect(foldedSketch(sketch)).toBe(sketch);
    expect(sketch.length).toBe(3 + Math.floor(doublings / 5));
  }
});

test("one duration takes three characters, an hour of answers some hundreds", () => {
  expect(sketchOf(1_000).length).toBe(3);
  const random = chance(4);
  const draw = distributions["as answers of models take"] ?? (() => Number.NaN);
  const hour = Array.from({ length: 20_000 }, () => sketchOf(draw(random))).join("");
  expect(foldedSketch(hour).length).toBeLessThan(700);
});

test("returns null without counts, and reads damaged text as far as possible", () => {
  expect(percentilesOf(noCounts(), [0.5, 0.95])).toEqual([null, null]);
  for (const text of ["oo1", "~~~", "0", "00", "\u{10FFFF}111", `${sketchOf(70)}??`]) {
    expect(() => foldedSketch(text)).not.toThrow();
    expect(sketchTotal(text)).toBeLessThanOrEqual(1);
  }
});

/** How many times a sketch counts. */
function sketchTotal(sketch: string): number {
  const counts = noCounts();
  addSketch(counts, sketch);
  return counts.reduce((sum, count) => sum + count, 0);
}
