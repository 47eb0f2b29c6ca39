import { anchorSpan, type SpanCounts, spanEndMs, spansInDoubling } from "./latency-sketch.ts";

/**
 * How long succeeded attempts took, as versions before the sketches counted it (`latency-sketch.ts`): by doubling spans, so many up to
 * 50 ms, so many up to 100, … up to 204.8 s, and the rest. Rollups of then still have these counts; nothing is added to them.
 */
const spanEnds = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 204_800] as const;

type Span = (typeof spanEnds)[number] | "rest";
const spans: readonly Span[] = [...spanEnds, "rest"];

type HistogramColumn = `${"total_ms" | "first_token_ms"}_${Span}`;
export type HistogramColumns = { [Column in HistogramColumn]: number };

/** The counts of attempts, and those up to their first token, each from the shortest span to the longest. */
export const histogramColumns = {
  total_ms: spans.map((span) => `total_ms_${span}` as const),
  first_token_ms: spans.map((span) => `first_token_ms_${span}` as const),
} as const;

/**
 * Adds such counts to those of the narrow spans that each doubling span holds, spread evenly over its time. What took longer than
 * 204.8 s is only known by that bound, and counted there.
 */
export function addHistogram(counts: SpanCounts, histogram: readonly number[]): void {
  for (const [index, count] of histogram.entries()) {
    if (count === 0) continue;
    const last = anchorSpan + Math.min(index, spanEnds.length - 1) * spansInDoubling;
    if (index === spanEnds.length) counts[last] = (counts[last] ?? 0) + count;
    else spread(counts, count, index === 0 ? 0 : last - spansInDoubling + 1, last);
  }
}

function spread(counts: SpanCounts, count: number, first: number, last: number): void {
  const from = first === 0 ? 0 : spanEndMs(first - 1);
  const perMs = count / (spanEndMs(last) - from);
  for (let span = first; span <= last; span++) {
    const widthMs = spanEndMs(span) - (span === 0 ? 0 : spanEndMs(span - 1));
    counts[span] = (counts[span] ?? 0) + widthMs * perMs;
  }
}
