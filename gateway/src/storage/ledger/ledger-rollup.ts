import { usageTable } from "@sluice/contract/words";
import type { LedgerEntry } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import { foldedSketch, sketchOf } from "../database/latency-sketch.ts";
import type { LatencyColumn } from "../database/report-tables.ts";
import type { Row } from "../database/schema.ts";
import { type UsageColumn, usageColumns } from "./ledger-columns.ts";

/** Without the counts of earlier versions, which nothing is added to. */
export type RollupRow = Pick<Row<"usage_rollups">, (typeof rollupColumns)[number]>;

export const hourMs = 3_600_000;

/** The columns that name a rollup; together its primary key. */
export const rollupScope = ["hour", "workspace_id", "group_id", "key_id", "model", "provider"] as const;

/** The person of a rollup whose key changed hands within the hour: its entries say what was whose. */
export const severalPeople = "*";

/** The columns that are sums over the rollup's entries, but for its sketches. */
export const rollupSums = [
  "attempts",
  "requests",
  "succeeded",
  "cancelled",
  ...usageColumns,
  "cost_nano_usd",
] as const satisfies readonly (keyof Row<"usage_rollups">)[];

/** Sketches of how long what succeeded took: to its caller, from the arrival of the call, and the attempt alone. */
export const rollupSketches = [
  "call_ms_sketch",
  "call_first_token_ms_sketch",
  "attempt_ms_sketch",
  "attempt_first_token_ms_sketch",
] as const satisfies readonly LatencyColumn[];

export const rollupColumns = [...rollupScope, "person_id", ...rollupSums, ...rollupSketches] as const;

/** The last hour that has counts of versions before the sketches, see migration 024; null: none has. */
export async function histogramsUntil(connection: Connection): Promise<number | null> {
  const mark = "ledger.doubling_spans_until";
  const row = await connection.selectFrom("settings").select("value").where("name", "=", mark).executeTakeFirst();
  return row === undefined ? null : Number(row.value);
}

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
  for (const column of rollupScope) into.push(rollup[column]);
  into.push(rollup.person_id);
  for (const column of rollupSums) into.push(rollup[column]);
  for (const column of rollupSketches) into.push(tidySketch(rollup[column]));
}

/** Shorter where that is worth the work: the same span may be counted in many pieces of a sketch. */
function tidySketch(sketch: string): string {
  return sketch.length < worthTidying ? sketch : foldedSketch(sketch);
}

const worthTidying = 32;

const nothingUsed = Object.fromEntries(usageColumns.map((column) => [column, 0])) as Record<UsageColumn, number>;
export const noSketches: Readonly<Record<LatencyColumn, string>> = Object.fromEntries(
  rollupSketches.map((column) => [column, ""]),
) as Record<LatencyColumn, string>;

function emptyRollup(entry: LedgerEntry, hour: number): RollupRow {
  return {
    hour,
    workspace_id: entry.workspaceId,
    group_id: entry.groupId,
    key_id: entry.keyId,
    model: entry.model,
    provider: entry.provider,
    person_id: entry.personId ?? null,
    attempts: 0,
    requests: 0,
    succeeded: 0,
    cancelled: 0,
    ...nothingUsed,
    cost_nano_usd: 0,
    ...noSketches,
  };
}

function add(rollup: RollupRow, entry: LedgerEntry): void {
  const usage = entry.usage;
  const calls = entry.calls ?? 1;
  if (rollup.person_id !== (entry.personId ?? null)) rollup.person_id = severalPeople;
  rollup.attempts += calls;
  if (entry.retryIndex === 0) rollup.requests += calls;
  if (entry.outcome === "cancelled") rollup.cancelled += calls;
  if (entry.outcome === "succeeded") {
    rollup.succeeded += 1;
    addTimes(rollup, entry);
  }
  for (const { name, column } of usageTable) rollup[column] += usage[name];
  rollup.cost_nano_usd += entry.costNanoUsd;
}

/** An entry of a version that did not note when its attempt began has the attempt's own times for those of the call. */
export function addTimes(
  rollup: Record<LatencyColumn, string>,
  { startedAfterMs, totalMs, firstTokenMs }: Pick<LedgerEntry, "startedAfterMs" | "totalMs" | "firstTokenMs">,
): void {
  const before = startedAfterMs ?? 0;
  rollup.attempt_ms_sketch += sketchOf(totalMs);
  rollup.call_ms_sketch += sketchOf(before + totalMs);
  if (firstTokenMs === null) return;
  rollup.attempt_first_token_ms_sketch += sketchOf(firstTokenMs);
  rollup.call_first_token_ms_sketch += sketchOf(before + firstTokenMs);
}

/** The person of several rows together, as SQL: theirs when they agree. */
export const commonPerson = `case when min(coalesce(person_id, '')) = max(coalesce(person_id, '')) then max(person_id) else '${severalPeople}' end`;

/** The person of a row that another one is added to. */
export function personBeside(kept: string, added: string): string {
  return `case when ${kept}.person_id is not distinct from ${added}.person_id then ${kept}.person_id else '${severalPeople}' end`;
}
