import { bounds } from "#core/index.ts";
import type { RecentCost, ReportStore, SpendingAsk } from "#ports/index.ts";
import { type Connection, inSnapshot } from "../database/database.ts";
import type { ReportContext } from "./report-desk.ts";

type SpendingReading = Awaited<ReturnType<ReportStore["spending"]>>;

const columnOf = { workspace: "workspace_id", group: "group_id", key: "key_id" } as const;

/** Sums and latest entries of one moment: an entry is in both or in neither. */
export async function spending(
  context: ReportContext,
  asks: readonly SpendingAsk[],
  endedSince: number,
): Promise<SpendingReading> {
  return await inSnapshot({ reading: context.connection }, async (snapshot) => {
    const spent = [];
    for (const ask of asks) {
      spent.push(await spentBy(snapshot, ask));
      context.deadline.check();
    }
    return { spent, recent: await recentCosts(snapshot, asks, endedSince) };
  });
}

async function spentBy(connection: Connection, { kind, id, from, to }: SpendingAsk) {
  const end = to ?? Number.MAX_SAFE_INTEGER;
  const row = await connection
    .selectFrom("usage_rollups")
    .select((eb) => [
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", "<", end).as("amount"),
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", ">=", end).as("later"),
    ])
    .where(columnOf[kind], "=", id)
    .where("hour", ">=", from)
    .executeTakeFirst();
  return { amount: Number(row?.amount ?? 0), later: Number(row?.later ?? 0) };
}

async function recentCosts(
  connection: Connection,
  asks: readonly SpendingAsk[],
  endedSince: number,
): Promise<readonly RecentCost[]> {
  const rows = await connection
    .selectFrom("ledger_entries")
    .select(["attempt_id", "at", "workspace_id", "group_id", "key_id", "cost_nano_usd"])
    .where("ended_at", ">=", endedSince)
    .where("cost_nano_usd", ">", 0)
    .where((eb) =>
      eb.or(
        [...Map.groupBy(asks, ({ kind }) => kind)].map(([kind, of]) =>
          eb(columnOf[kind], "in", [...new Set(of.map(({ id }) => id))]),
        ),
      ),
    )
    .limit(bounds.budgetReadEntriesMax + 1)
    .execute();
  return rows.map((row) => ({
    attemptId: row.attempt_id,
    at: row.at,
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    costNanoUsd: row.cost_nano_usd,
  }));
}
