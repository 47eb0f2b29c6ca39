import type { BudgetPeriod } from "#core/index.ts";
import type { LedgerFilter, RecentRow, SpendRow, UsageSum } from "#ports/index.ts";
import { type Connection, type Database, inSnapshot } from "./database.ts";
import { type UsageColumn, usageColumnOf } from "./ledger-columns.ts";
import { matches } from "./ledger-page.ts";
import { hourMs } from "./ledger-rollup.ts";

/** Cost by workspace, group and key since the period's start. Periods start on whole hours, so rollups suffice. */
export async function spendSince(database: Database, start: number): Promise<readonly SpendRow[]> {
  const rows = await database.kysely
    .selectFrom("usage_rollups")
    .select(["workspace_id", "group_id", "key_id"])
    .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("nano_usd"))
    .where("hour", ">=", start)
    .groupBy(["workspace_id", "group_id", "key_id"])
    .orderBy("workspace_id")
    .orderBy("group_id")
    .orderBy("key_id")
    .execute();
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    nanoUsd: Number(row.nano_usd),
  }));
}

/** When the period that holds `now` began: UTC, weeks on Monday; `total` never began. */
export function periodStart(period: BudgetPeriod, now: number): number {
  if (period === "total") return 0;
  const date = new Date(now);
  const day = period === "month" ? 1 : date.getUTCDate() - (period === "week" ? (date.getUTCDay() + 6) % 7 : 0);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day);
}

/** Entries that ended since then. A refused call took nothing, so it is not among them. */
export async function recentEntries(database: Database, sinceMs: number): Promise<readonly RecentRow[]> {
  const rows = await database.kysely
    .selectFrom("ledger_entries")
    .select(["workspace_id", "group_id", "key_id", "at", "request_id", ...tokenColumns])
    .where("ended_at", ">=", sinceMs)
    .where("outcome", "!=", "rejected")
    .orderBy("ended_at")
    .orderBy("attempt_id")
    .execute();
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    at: row.at,
    requestId: row.request_id,
    tokens: tokenColumns.reduce((sum, column) => sum + row[column], 0),
  }));
}

export const inputColumns = [
  usageColumnOf.inputUncached,
  usageColumnOf.cacheRead,
  usageColumnOf.cacheWrite5m,
  usageColumnOf.cacheWrite1h,
  usageColumnOf.audioInput,
  usageColumnOf.imageInput,
] as const;
export const outputColumns = [usageColumnOf.output, usageColumnOf.audioOutput, usageColumnOf.imageOutput] as const;
const tokenColumns = [...inputColumns, ...outputColumns] as const;

/**
 * Sums by model. Whole hours come from the rollups, which outlive the entries; what the filter cuts off an hour, and
 * filters the rollups do not know, come from the entries.
 */
export async function usageByModel(database: Database, filter: LedgerFilter): Promise<readonly UsageSum[]> {
  const from = filter.from ?? 0;
  const to = filter.to ?? Number.MAX_SAFE_INTEGER;
  const firstHour = Math.ceil(from / hourMs) * hourMs;
  const lastHour = filter.to === undefined ? to : Math.floor(to / hourMs) * hourMs;
  const total = new Map<string, UsageSum>();
  if (filter.outcome !== undefined || filter.requestId !== undefined || firstHour >= lastHour) {
    merge(total, await sumsOfEntries(database.kysely, filter));
  } else {
    // One snapshot, or an entry that arrives between the reads could be seen in none or in both.
    await inSnapshot(database, async (snapshot) => {
      merge(total, await sumsOfRollups(snapshot, filter, firstHour, lastHour));
      if (from < firstHour) merge(total, await sumsOfEntries(snapshot, { ...filter, from, to: firstHour }));
      if (lastHour < to) merge(total, await sumsOfEntries(snapshot, { ...filter, from: lastHour, to }));
    });
  }
  return [...total.values()].sort((a, b) => (a.model < b.model ? -1 : 1));
}

function merge(total: Map<string, UsageSum>, part: readonly UsageSum[]): void {
  for (const sum of part) {
    const known = total.get(sum.model);
    total.set(sum.model, known === undefined ? sum : added(known, sum));
  }
}

function added(a: UsageSum, b: UsageSum): UsageSum {
  return {
    model: a.model,
    requests: a.requests + b.requests,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costNanoUsd: a.costNanoUsd + b.costNanoUsd,
  };
}

type SumRow = { readonly [Column in UsageColumn | "requests" | "cost_nano_usd"]?: number | string | null } & {
  readonly model: string;
};

function usageSumOf(row: SumRow): UsageSum {
  const sum = (columns: readonly UsageColumn[]) => columns.reduce((all, column) => all + Number(row[column] ?? 0), 0);
  return {
    model: row.model,
    requests: Number(row.requests ?? 0),
    inputTokens: sum(inputColumns),
    outputTokens: sum(outputColumns),
    costNanoUsd: Number(row.cost_nano_usd ?? 0),
  };
}

async function sumsOfEntries(connection: Connection, filter: LedgerFilter): Promise<readonly UsageSum[]> {
  const rows = await connection
    .selectFrom("ledger_entries")
    .select("model")
    .select((eb) => [
      ...[...tokenColumns, "cost_nano_usd" as const].map((column) => eb.fn.sum<number>(column).as(column)),
      eb.fn.sum<number>(eb.case().when("retry_index", "=", 0).then(1).else(0).end()).as("requests"),
    ])
    .where((eb) => matches(eb, filter))
    .groupBy("model")
    .execute();
  return rows.map(usageSumOf);
}

async function sumsOfRollups(
  connection: Connection,
  filter: LedgerFilter,
  from: number,
  to: number,
): Promise<readonly UsageSum[]> {
  let query = connection
    .selectFrom("usage_rollups")
    .select("model")
    .select((eb) =>
      [...tokenColumns, "requests" as const, "cost_nano_usd" as const].map((column) =>
        eb.fn.sum<number>(column).as(column),
      ),
    )
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .groupBy("model");
  if (filter.workspaceId !== undefined) query = query.where("workspace_id", "=", filter.workspaceId);
  if (filter.groupId !== undefined) query = query.where("group_id", "=", filter.groupId);
  if (filter.keyId !== undefined) query = query.where("key_id", "=", filter.keyId);
  if (filter.model !== undefined) query = query.where("model", "=", filter.model);
  if (filter.provider !== undefined) query = query.where("provider", "=", filter.provider);
  const rows = await query.execute();
  return rows.map(usageSumOf);
}
