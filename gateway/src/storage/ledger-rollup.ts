import type { LedgerEntry } from "#core/index.ts";
import { columnFor, histogramColumns } from "./latency-histogram.ts";
import { usageColumnOf } from "./ledger-columns.ts";
import type { RollupHistograms } from "./report-tables.ts";
import type { Row } from "./schema.ts";

type RollupRow = Row<"usage_rollups">;

export const hourMs = 3_600_000;

/** The columns that name a rollup; together its primary key. */
export const rollupScope = ["hour", "workspace_id", "group_id", "key_id", "model", "provider"] as const;

/** The columns that are sums over the rollup's entries. */
export const rollupSums = [
  "attempts",
  "requests",
  "succeeded",
  ...Object.values(usageColumnOf),
  "cost_nano_usd",
  ...histogramColumns,
] as const satisfies readonly (keyof RollupRow)[];

export const rollupColumns = [...rollupScope, ...rollupSums] as const;

/** What these entries add to the rollups: one row for each hour × workspace × group × key × model × provider. */
export function rollupsOf(entries: Iterable<LedgerEntry>): readonly RollupRow[] {
  const rollups = new Map<string, RollupRow>();
  for (const entry of entries) {
    const hour = entry.at - (entry.at % hourMs);
    // The model stands last: of a refused call it is whatever the caller sent, and may hold the separator.
    const scope = `${hour} ${entry.keyId} ${entry.groupId} ${entry.workspaceId} ${entry.provider} ${entry.model}`;
    let rollup = rollups.get(scope);
    if (rollup === undefined) {
      rollup = emptyRollup(entry, hour);
      rollups.set(scope, rollup);
    }
    add(rollup, entry);
  }
  return [...rollups.values()];
}

/** Appends the values of a rollup in the order of `rollupColumns`. */
export function bindRollup(rollup: RollupRow, into: unknown[]): void {
  for (const column of rollupColumns) into.push(rollup[column]);
}

const noDurations = Object.fromEntries(histogramColumns.map((column) => [column, 0])) as RollupHistograms;

function emptyRollup(entry: LedgerEntry, hour: number): RollupRow {
  return {
    hour,
    workspace_id: entry.workspaceId,
    group_id: entry.groupId,
    key_id: entry.keyId,
    model: entry.model,
    provider: entry.provider,
    attempts: 0,
    requests: 0,
    succeeded: 0,
    input_uncached: 0,
    cache_read: 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    output: 0,
    reasoning: 0,
    audio_input: 0,
    audio_output: 0,
    image_input: 0,
    image_output: 0,
    images: 0,
    video_seconds: 0,
    web_searches: 0,
    file_searches: 0,
    code_sessions: 0,
    cost_nano_usd: 0,
    ...noDurations,
  };
}

function add(rollup: RollupRow, entry: LedgerEntry): void {
  const usage = entry.usage;
  const calls = entry.calls ?? 1;
  rollup.attempts += calls;
  if (entry.retryIndex === 0) rollup.requests += calls;
  if (entry.outcome === "succeeded") {
    rollup.succeeded += 1;
    rollup[columnFor("total_ms", entry.totalMs)] += 1;
    if (entry.firstTokenMs !== null) rollup[columnFor("first_token_ms", entry.firstTokenMs)] += 1;
  }
  rollup.input_uncached += usage.inputUncached;
  rollup.cache_read += usage.cacheRead;
  rollup.cache_write_5m += usage.cacheWrite5m;
  rollup.cache_write_1h += usage.cacheWrite1h;
  rollup.output += usage.output;
  rollup.reasoning += usage.reasoning;
  rollup.audio_input += usage.audioInput;
  rollup.audio_output += usage.audioOutput;
  rollup.image_input += usage.imageInput;
  rollup.image_output += usage.imageOutput;
  rollup.images += usage.images;
  rollup.video_seconds += usage.videoSeconds;
  rollup.web_searches += usage.webSearches;
  rollup.file_searches += usage.fileSearches;
  rollup.code_sessions += usage.codeSessions;
  rollup.cost_nano_usd += entry.costNanoUsd;
}
