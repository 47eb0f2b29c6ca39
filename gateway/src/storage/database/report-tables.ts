import type { HistogramColumns } from "./latency-histogram.ts";

/** Sketches of durations in milliseconds, see `latency-sketch.ts`: of whole calls as their callers saw them, and of attempts. */
export type LatencyColumn = `${"call" | "attempt"}_${"ms" | "first_token_ms"}_sketch`;

/**
 * How long what succeeded took. Migration 006 added the counts by doubling spans, which rollups of then have; migration 024 the
 * sketches.
 */
export type RollupLatencies = HistogramColumns & { [Column in LatencyColumn]: string };
