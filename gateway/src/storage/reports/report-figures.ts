import type { UsageFigures } from "@sluice/contract/console";
import { nanoToUsd } from "#core/index.ts";
import { columnsOf, type Duration, percentileOf } from "../database/latency-histogram.ts";
import { usageColumnOf } from "../ledger/ledger-columns.ts";
import { rollupSums } from "../ledger/ledger-rollup.ts";
import { inputColumns, outputColumns } from "../ledger/ledger-sums.ts";

/** Of every rollup: it is in these that figures add up. */
export const figureColumns = rollupSums;

export type FigureSums = Record<(typeof figureColumns)[number], number>;

export function noFigures(): FigureSums {
  return Object.fromEntries(figureColumns.map((column) => [column, 0])) as FigureSums;
}

export function addFigures(to: FigureSums, more: FigureSums): void {
  for (const column of figureColumns) to[column] += more[column];
}

export function figuresOf(sums: FigureSums): UsageFigures {
  const all = (columns: readonly (keyof FigureSums)[]) => columns.reduce((sum, column) => sum + sums[column], 0);
  return {
    requests: sums.requests,
    attempts: sums.attempts,
    succeeded: sums.succeeded,
    failed: sums.attempts - sums.succeeded - sums.cancelled,
    cancelled: sums.cancelled,
    // At most one attempt of a request is the answer that its caller got; a retry of the hour before may be among them.
    failed_requests: Math.max(0, sums.requests - sums.succeeded - sums.cancelled),
    input_tokens: all(inputColumns),
    cached_tokens: sums[usageColumnOf.cacheRead],
    output_tokens: all(outputColumns),
    images: sums.images,
    video_seconds: sums.video_seconds,
    tool_calls: sums.web_searches + sums.file_searches + sums.code_sessions,
    cost_usd: nanoToUsd(sums.cost_nano_usd),
    latency_p50_ms: percentile(sums, "total_ms", 0.5),
    latency_p95_ms: percentile(sums, "total_ms", 0.95),
    first_token_p50_ms: percentile(sums, "first_token_ms", 0.5),
    first_token_p95_ms: percentile(sums, "first_token_ms", 0.95),
  };
}

function percentile(sums: FigureSums, duration: Duration, share: number): number | null {
  const counts = columnsOf(duration).map((column) => sums[column]);
  const ms = percentileOf(counts, share);
  return ms === null ? null : Math.round(ms * 10) / 10;
}
