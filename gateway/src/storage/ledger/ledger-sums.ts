import { sql } from "kysely";
import { inputClasses, outputClasses } from "#core/index.ts";
import type { LedgerFilter, RecentRow, UsageSum } from "#ports/index.ts";
import { type Connection, type Database, inSnapshot } from "../database/database.ts";
import { type UsageColumn, usageColumnOf } from "./ledger-columns.ts";
import { matches } from "./ledger-page.ts";
import { hourMs, vendorSums } from "./ledger-rollup.ts";

/** By key and second, as few rows as the last minute's rates need. */
export async function recentEntries(
  database: Database,
  sinceMs: number,
  untilMs: number,
): Promise<readonly RecentRow[]> {
  const second = sql<number>`at - at % 1000`;
  const rows = await database.kysely
    .selectFrom("ledger_entries")
    .select(["workspace_id", "group_id", "key_id", "person_id", second.as("second")])
    .select((eb) => [
      sql<number>`sum(case when retry_index = 0 then calls else 0 end)`.as("requests"),
      ...tokenColumns.map((column) => eb.fn.sum<number>(column).as(column)),
    ])
    .where("ended_at", ">=", sinceMs)
    .where("ended_at", "<=", untilMs)
    .where("outcome", "!=", "rejected")
    .groupBy(["workspace_id", "group_id", "key_id", "person_id", second])
    .orderBy(second)
    .orderBy("key_id")
    .execute();
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    ...(row.person_id === null ? {} : { personId: row.person_id }),
    at: Number(row.second),
    requests: Number(row.requests),
    tokens: tokenColumns.reduce((sum, column) => sum + Number(row[column]), 0),
  }));
}

export const inputColumns = inputClasses.map((name) => usageColumnOf[name]);
export const outputColumns = outputClasses.map((name) => usageColumnOf[name]);
const tokenColumns = [...inputColumns, ...outputColumns];

/**
 * Sums by model. Whole hours come from the rollups, which outlive the entries; what the filter cuts off an hour, and
 * filters the rollups do not know, come from the entries.
 */
export async function usageByModel(
  database: Pick<Database, "reading">,
  filter: LedgerFilter,
): Promise<readonly UsageSum[]> {
  const from = filter.from ?? 0;
  const to = filter.to ?? Number.MAX_SAFE_INTEGER;
  const firstHour = Math.ceil(from / hourMs) * hourMs;
  const lastHour = filter.to === undefined ? to : Math.floor(to / hourMs) * hourMs;
  const total = new Map<string, UsageSum>();
  if (filter.outcome !== undefined || filter.requestId !== undefined || firstHour >= lastHour) {
    merge(total, await sumsOfEntries(database.reading, filter));
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
    vendorCostNanoUsd: a.vendorCostNanoUsd + b.vendorCostNanoUsd,
    comparedCostNanoUsd: a.comparedCostNanoUsd + b.comparedCostNanoUsd,
  };
}

const costColumns = ["cost_nano_usd", "vendor_cost_nano_usd", "compared_cost_nano_usd"] as const;

type SumRow = {
  readonly [Column in UsageColumn | "requests" | (typeof costColumns)[number]]?: number | string | null;
} & {
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
    vendorCostNanoUsd: Number(row.vendor_cost_nano_usd ?? 0),
    comparedCostNanoUsd: Number(row.compared_cost_nano_usd ?? 0),
  };
}

async function sumsOfEntries(connection: Connection, filter: LedgerFilter): Promise<readonly UsageSum[]> {
  const rows = await connection
    .selectFrom("ledger_entries")
    .select("model")
    .select((eb) => [
      ...[...tokenColumns, "cost_nano_usd" as const, "vendor_cost_nano_usd" as const].map((column) =>
        eb.fn.sum<number>(column).as(column),
      ),
      sql<number>`sum(${sql.raw(vendorSums.compared_cost_nano_usd)})`.as("compared_cost_nano_usd"),
      eb.fn.sum<number>(eb.case().when("retry_index", "=", 0).then(eb.ref("calls")).else(0).end()).as("requests"),
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
      [...tokenColumns, "requests" as const, ...costColumns].map((column) => eb.fn.sum<number>(column).as(column)),
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
