import type { UsageFigures } from "@sluice/contract/console";
import { type RawBuilder, sql } from "kysely";
import { comparedCosts, nanoToUsd, usageClassColumns } from "#core/index.ts";
import { addSketch, foldedSketch, noCounts, percentilesOf, sketchWithout } from "../database/latency-sketch.ts";
import type { LatencyColumn } from "../database/schema.ts";
import { inputColumns, outputColumns } from "../ledger/ledger-columns.ts";
import { rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";

export interface FigureSums {
  readonly counts: Record<(typeof rollupSums)[number], number>;
  readonly sketches: Record<LatencyColumn, string>;
}

/** The texts of a group of rows in one, as SQL; null if there are none. */
export function joinedTexts(
  { flavour }: Pick<ReportContext, "flavour">,
  column: LatencyColumn,
  separator: "" | " ",
): RawBuilder<string | null> {
  return flavour.name === "sqlite"
    ? sql`group_concat(${sql.ref(column)}, ${sql.lit(separator)})`
    : sql`string_agg(${sql.ref(column)}::text, ${sql.lit(separator)})`;
}

/** Longer sketches are rewritten with each span once. */
const longSketch = 1_024;

const noSums = Object.fromEntries(rollupSums.map((column) => [column, 0])) as FigureSums["counts"];
const noSketches = Object.fromEntries(rollupSketches.map((column) => [column, ""])) as FigureSums["sketches"];

export function noFigures(): FigureSums {
  return { counts: { ...noSums }, sketches: { ...noSketches } };
}

export function addFigures(to: FigureSums, more: FigureSums): void {
  for (const column of rollupSums) to.counts[column] += more.counts[column];
  for (const column of rollupSketches) {
    const both = to.sketches[column] + more.sketches[column];
    to.sketches[column] = shortSketch(both);
  }
}

/** `all` minus `parts`. */
export function figuresWithout(all: FigureSums, parts: readonly FigureSums[]): FigureSums {
  const rest = noFigures();
  for (const column of rollupSums) {
    rest.counts[column] = parts.reduce((left, part) => left - part.counts[column], all.counts[column]);
  }
  for (const column of rollupSketches) {
    rest.sketches[column] = sketchWithout(
      all.sketches[column],
      parts.map(({ sketches }) => sketches[column]),
    );
  }
  return rest;
}

export function shortSketch(sketch: string): string {
  return sketch.length < longSketch ? sketch : foldedSketch(sketch);
}

export function figuresOf({ counts, sketches }: FigureSums): UsageFigures {
  const all = (columns: readonly (keyof FigureSums["counts"])[]) =>
    columns.reduce((sum, column) => sum + counts[column], 0);
  const input = all(inputColumns);
  const output = all(outputColumns);
  const reasoning = counts.reasoning + counts.separate_reasoning;
  const cached = counts[usageClassColumns.cacheRead] + counts[usageClassColumns.cacheReadAudio];
  const times = (of: "call" | "attempt", kind: "ms" | "first_token_ms") => {
    const spans = reading.fill(0);
    addSketch(spans, sketches[`${of}_${kind}_sketch`]);
    const [p50 = null, p95 = null] = percentilesOf(spans, [0.5, 0.95]);
    return { p50, p95 };
  };
  const [calls, callTokens] = [times("call", "ms"), times("call", "first_token_ms")];
  const [attempts, attemptTokens] = [times("attempt", "ms"), times("attempt", "first_token_ms")];
  return {
    requests: counts.requests,
    attempts: counts.attempts,
    succeeded: counts.succeeded,
    failed: counts.attempts - counts.succeeded - counts.cancelled,
    cancelled: counts.cancelled,
    // At most one attempt of a request succeeded for its caller. It may belong to a request of the previous hour.
    failed_requests: Math.max(0, counts.requests - counts.succeeded - counts.cancelled),
    input_tokens: input,
    cached_tokens: cached,
    cache_read_share: input === 0 ? null : cached / input,
    cache_write_tokens: counts.cache_write_5m + counts.cache_write_1h,
    output_tokens: output,
    reasoning_tokens: reasoning,
    reasoning_share: output === 0 ? null : Math.min(1, reasoning / output),
    images: counts.images,
    video_seconds: counts.video_seconds,
    tool_calls: counts.web_searches + counts.file_searches + counts.map_searches + counts.code_sessions,
    cost_usd: nanoToUsd(counts.cost_nano_usd),
    cache_saved_usd: nanoToUsd(counts.cache_saved_nano_usd),
    ...comparedCosts(counts.vendor_cost_nano_usd, counts.compared_cost_nano_usd),
    request_latency_p50_ms: calls.p50,
    request_latency_p95_ms: calls.p95,
    request_first_token_p50_ms: callTokens.p50,
    request_first_token_p95_ms: callTokens.p95,
    latency_p50_ms: attempts.p50,
    latency_p95_ms: attempts.p95,
    first_token_p50_ms: attemptTokens.p50,
    first_token_p95_ms: attemptTokens.p95,
  };
}

const reading = noCounts();
