import { bounds, type NanoUsd, personOfScope } from "#core/index.ts";
import type { RecentCost, ReportStore, SpendingAsk } from "#ports/index.ts";
import { type Connection, inSnapshot } from "../database/database.ts";
import { readyDays, rollupsWithin, type TimeSpan, unlessShared } from "../ledger/ledger-day-reading.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import { hourMs, severalPeople } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";

type SpendingReading = Awaited<ReturnType<ReportStore["spending"]>>;

const columnOf = { workspace: "workspace_id", group: "group_id", person: "person_id", key: "key_id" } as const;

/** Sums and latest entries of one moment: an entry is in both or in neither. */
export async function spending(
  context: ReportContext,
  asks: readonly SpendingAsk[],
  endedSince: number,
): Promise<SpendingReading> {
  return await inSnapshot({ reading: context.connection }, async (snapshot) => {
    const spent = [];
    const from = asks.reduce((first, ask) => Math.min(first, ask.from), Number.MAX_SAFE_INTEGER);
    const days = await readyDays(snapshot, { from, to: Number.MAX_SAFE_INTEGER });
    for (const ask of asks) {
      spent.push(await spentBy({ ...context, connection: snapshot }, days, ask));
      context.deadline.check();
    }
    return { spent, recent: await recentCosts(snapshot, asks, endedSince) };
  });
}

/** Of a key or a person few rows are read anyhow. */
async function spentBy(
  { connection, flavour }: ReportContext,
  summed: readonly TimeSpan[],
  ask: SpendingAsk,
): Promise<Spent> {
  const { kind, id, from } = ask;
  if (kind === "person") return await spentByPerson({ connection, flavour }, ask);
  const end = endOf(ask);
  const column = columnOf[kind];
  const row = await rollupsWithin(connection, flavour, {
    span: { from, to: Number.MAX_SAFE_INTEGER },
    days: kind === "key" ? [] : summed.flatMap((run) => apartAt(run, end)),
    needed: ["group_id", column],
    columns: ["hour", "cost_nano_usd"],
    choose: (rows) => rows.where(column, "=", id),
  })
    .select((eb) => [
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", "<", end).as("amount"),
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", ">=", end).as("later"),
    ])
    .executeTakeFirst();
  return { amount: Number(row?.amount ?? 0), later: Number(row?.later ?? 0) };
}

interface Spent {
  readonly amount: NanoUsd;
  readonly later: NanoUsd;
}

/** Of the hours in which a key changed hands, the entries say what was whose. */
async function spentByPerson(
  { connection, flavour }: Pick<ReportContext, "connection" | "flavour">,
  ask: SpendingAsk,
): Promise<Spent> {
  const [workspaceId, personId] = personOfScope(ask.id);
  const end = endOf(ask);
  const rollups = connection.selectFrom("usage_rollups");
  const whole = await (flavour.name === "postgres" ? rollups.where(unlessShared) : rollups)
    .where("person_id", "=", personId)
    .where("workspace_id", "=", workspaceId)
    .where("hour", ">=", ask.from)
    .select((eb) => [
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", "<", end).as("amount"),
      eb.fn.sum<number | null>("cost_nano_usd").filterWhere("hour", ">=", end).as("later"),
    ])
    .executeTakeFirst();
  const shared = await connection
    .selectFrom("usage_rollups as r")
    .innerJoin("ledger_entries as e", (join) =>
      join
        .onRef("e.key_id", "=", "r.key_id")
        .onRef("e.group_id", "=", "r.group_id")
        .onRef("e.workspace_id", "=", "r.workspace_id")
        .onRef("e.model", "=", "r.model")
        .onRef("e.provider", "=", "r.provider")
        .onRef("e.at", ">=", "r.hour")
        .on((eb) => eb("e.at", "<", eb("r.hour", "+", hourMs))),
    )
    .where("r.person_id", "=", severalPeople)
    .where("r.workspace_id", "=", workspaceId)
    .where("r.hour", ">=", ask.from)
    .where("e.person_id", "=", personId)
    .select((eb) => [
      eb.fn.sum<number | null>("e.cost_nano_usd").filterWhere("r.hour", "<", end).as("amount"),
      eb.fn.sum<number | null>("e.cost_nano_usd").filterWhere("r.hour", ">=", end).as("later"),
    ])
    .executeTakeFirst();
  return {
    amount: Number(whole?.amount ?? 0) + Number(shared?.amount ?? 0),
    later: Number(whole?.later ?? 0) + Number(shared?.later ?? 0),
  };
}

function endOf({ to }: SpendingAsk): number {
  return to ?? Number.MAX_SAFE_INTEGER;
}

/** The day in which a period ends belongs to both sides of it. */
function apartAt({ from, to }: TimeSpan, end: number): readonly TimeSpan[] {
  if (end <= from || end >= to) return [{ from, to }];
  return [
    { from, to: end - (end % dayMs) },
    { from: Math.ceil(end / dayMs) * dayMs, to },
  ];
}

async function recentCosts(
  connection: Connection,
  asks: readonly SpendingAsk[],
  endedSince: number,
): Promise<readonly RecentCost[]> {
  const rows = await connection
    .selectFrom("ledger_entries")
    .select(["attempt_id", "at", "workspace_id", "group_id", "key_id", "person_id", "cost_nano_usd"])
    .where("ended_at", ">=", endedSince)
    .where("cost_nano_usd", ">", 0)
    .where((eb) =>
      eb.or(
        [...Map.groupBy(asks, ({ kind }) => kind)].map(([kind, of]) =>
          eb(columnOf[kind], "in", [...new Set(of.map(({ id }) => (kind === "person" ? personOfScope(id)[1] : id)))]),
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
    ...(row.person_id === null ? {} : { personId: row.person_id }),
    costNanoUsd: row.cost_nano_usd,
  }));
}
