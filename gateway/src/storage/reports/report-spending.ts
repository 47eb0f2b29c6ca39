import { bounds, personOfScope } from "#core/index.ts";
import type { RecentCost, SpendingQuery, SpendingReport } from "#ports/index.ts";
import { withoutIndex } from "../database/conditions.ts";
import type { Connection } from "../database/database.ts";
import { rollupsWithin, type SummedTimes, summedTimes } from "../ledger/ledger-day-reading.ts";
import { dayMs, type TimeSpan } from "../ledger/ledger-grains.ts";
import { endedSince } from "../ledger/ledger-reading.ts";
import { inOneSnapshot, type ReportContext } from "./report-context.ts";

const columnOf = { workspace: "workspace_id", group: "group_id", person: "person_id", key: "key_id" } as const;

/** Sums and latest entries in one snapshot: an entry is in both or in neither. */
export async function spending(
  context: ReportContext,
  asks: readonly SpendingQuery[],
  since: number,
): Promise<SpendingReport> {
  return await inOneSnapshot(context, async ({ connection, ...rest }) => {
    const spent = [];
    const from = asks.reduce((first, ask) => Math.min(first, ask.from), Number.MAX_SAFE_INTEGER);
    const summed = await summedTimes(connection, { from, to: Number.MAX_SAFE_INTEGER });
    for (const ask of asks) {
      spent.push(await spentBy({ connection, ...rest }, summed, ask));
      context.deadline.check();
    }
    return { spent, recent: await recentCosts(connection, asks, since) };
  });
}

/** Keys and people have few rows, so no sums are used for them. */
async function spentBy(
  { connection, flavour }: ReportContext,
  summed: SummedTimes,
  ask: SpendingQuery,
): Promise<SpendingReport["spent"][number]> {
  const { kind, id, from, to } = ask;
  const end = to ?? Number.MAX_SAFE_INTEGER;
  const isOne = kind === "key" || kind === "person";
  const column = columnOf[kind];
  const [workspaceId, personId] = kind === "person" ? personOfScope(id) : [null, null];
  const row = await rollupsWithin(connection, flavour, {
    span: { from, to: Number.MAX_SAFE_INTEGER },
    summed: isOne ? noSums : { ...summed, days: summed.days.flatMap((run) => splitAt(run, end)) },
    needed: column === "person_id" ? ["workspace_id", column] : ["group_id", column],
    columns: ["hour", "cost_nano_usd"],
    filter: (rows) =>
      workspaceId === null
        ? rows.where(column, "=", id)
        : rows.where("person_id", "=", personId).where("workspace_id", "=", workspaceId),
  })
    .select((eb) => [
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", "<", end).as("amount"),
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", ">=", end).as("later"),
    ])
    .executeTakeFirst();
  return { amount: Number(row?.amount ?? 0), later: Number(row?.later ?? 0) };
}

const noSums: SummedTimes = { days: [], hours: [] };

/** Splits a run at the day in which a period ends, which belongs to both sides. */
function splitAt({ from, to }: TimeSpan, end: number): readonly TimeSpan[] {
  if (end <= from || end >= to) return [{ from, to }];
  return [
    { from, to: end - (end % dayMs) },
    { from: Math.ceil(end / dayMs) * dayMs, to },
  ];
}

async function recentCosts(
  connection: Connection,
  asks: readonly SpendingQuery[],
  since: number,
): Promise<readonly RecentCost[]> {
  const scopes = [...Map.groupBy(asks, ({ kind }) => kind)].map(([kind, of]) => ({
    column: columnOf[kind],
    ids: [...new Set(of.map(({ id }) => (kind === "person" ? personOfScope(id)[1] : id)))],
  }));
  const [usual, long] = endedSince(connection, since);
  const costing = (entries: typeof usual) =>
    entries
      .select(["attempt_id", "at", "workspace_id", "group_id", "key_id", "person_id", "cost_nano_usd"])
      .where("cost_nano_usd", "!=", 0)
      // SQLite would choose the index of a workspace or key, and read all of its entries to find the long calls.
      .where((eb) => eb.or(scopes.map(({ column, ids }) => eb(withoutIndex(eb.ref(column)), "in", ids))));
  const rows = await costing(usual)
    .unionAll(costing(long))
    .limit(bounds.budgetReadEntriesMax + 1)
    .execute();
  return rows.map((row) => ({
    attemptId: row.attempt_id,
    at: row.at,
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    ...(row.person_id === null ? {} : { personId: row.person_id }),
    costNanoUsd: row.cost_nano_usd,
  }));
}
