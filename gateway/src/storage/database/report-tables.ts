/** Sketches of durations in milliseconds, see `latency-sketch.ts`: of whole calls as their callers saw them, and of attempts. */
export type LatencyColumn = `${"call" | "attempt"}_${"ms" | "first_token_ms"}_sketch`;

/** How long what succeeded took. */
export type RollupLatencies = { [Column in LatencyColumn]: string };
