import { usageTable } from "@sluice/contract/words";
import type { LedgerEntry } from "#core/index.ts";
import { columnFor, histogramColumns } from "../database/latency-histogram.ts";
import type { RollupHistograms } from "../database/report-tables.ts";
import type { Row } from "../database/schema.ts";
import { type UsageColumn, usageColumns } from "./ledger-columns.ts";

type RollupRow = Row<"usage_rollups">;

export const hourMs = 3_600_000;

/** The columns that name a rollup; together its primary key. */
export const rollupScope = ["hour", "workspace_id", "group_id", "key_id", "model", "provider"] as const;

/** The columns that are sums over the rollup's entries. */
export const rollupSums = [
  "attempts",
  "requests",
  "succeeded",
  "cancelled",
  ...usageColumns,
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

const nothingUsed = Object.fromEntries(usageColumns.map((column) => [column, 0])) as Record<UsageColumn, number>;
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
    cancelled: 0,
    ...nothingUsed,
    cost_nano_usd: 0,
    ...noDurations,
  };
}

function add(rollup: RollupRow, entry: LedgerEntry): void {
  const usage = entry.usage;
  const calls = entry.calls ?? 1;
  rollup.attempts += calls;
  if (entry.retryIndex === 0) rollup.requests += calls;
  if (entry.outcome === "cancelled") rollup.cancelled += calls;
  if (entry.outcome === "succeeded") {
    rollup.succeeded += 1;
    rollup[columnFor("total_ms", entry.totalMs)] += 1;
    if (entry.firstTokenMs !== null) rollup[columnFor("first_token_ms", entry.firstTokenMs)] += 1;
  }
  for (const { name, column } of usageTable) rollup[column] += usage[name];
  rollup.cost_nano_usd += entry.costNanoUsd;
}
