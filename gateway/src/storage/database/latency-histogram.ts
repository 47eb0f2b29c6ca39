/**
 * How long succeeded attempts took, as counts by doubling spans: so many up to 50 ms, so many up to 100, … up to 204.8 s,
 * and the rest. Counts add up over hours, keys and models, which percentiles themselves do not.
 *
 * A percentile read from them lies in the same span as the true one: between half and twice of it, below 50 ms within
 * 50 ms. Beyond 204.8 s only that bound is known, and it is what is given.
 */
export const spanEnds = [
  50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 204_800,
] as const;

type Span = (typeof spanEnds)[number] | "rest";

/** From the begin of an attempt to its end, and to the first token. */
export const durations = ["total_ms", "first_token_ms"] as const;
export type Duration = (typeof durations)[number];

export type HistogramColumn = `${Duration}_${Span}`;
export type HistogramColumns = { [Column in HistogramColumn]: number };

export function columnsOf(duration: Duration): readonly HistogramColumn[] {
  return [...spanEnds, "rest" as const].map((span) => `${duration}_${span}` as const);
}

export const histogramColumns: readonly HistogramColumn[] = durations.flatMap(columnsOf);

const columnsByDuration = { total_ms: columnsOf("total_ms"), first_token_ms: columnsOf("first_token_ms") };

/** The column that counts something that took so long. */
export function columnFor(duration: Duration, ms: number): HistogramColumn {
  let span = 0;
  while (span < spanEnds.length && ms > (spanEnds[span] ?? 0)) span++;
  return columnsByDuration[duration][span] as HistogramColumn;
}

/** Each column of a duration with what it counts: longer than `from`, up to `to`; null: without that bound. */
export function spansOf(
  duration: Duration,
): readonly { readonly column: HistogramColumn; readonly from: number | null; readonly to: number | null }[] {
  return columnsOf(duration).map((column, index) => ({
    column,
    from: spanEnds[index - 1] ?? null,
    to: spanEnds[index] ?? null,
  }));
}

/** `counts` in the order of `columnsOf`; null when nothing was counted. Within a span it is spread evenly. */
export function percentileOf(counts: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  const rank = share * all;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const from = spanEnds[index - 1] ?? 0;
      const to = spanEnds[index] ?? from;
      return from + ((to - from) * Math.max(0, rank - below)) / count;
    }
    below += count;
  }
  return spanEnds.at(-1) ?? null;
}
