import type { HistogramColumns } from "./latency-histogram.ts";

/** The columns that migration 006 adds to `usage_rollups`; see `latency-histogram.ts` for what they count. */
export type RollupHistograms = HistogramColumns;
