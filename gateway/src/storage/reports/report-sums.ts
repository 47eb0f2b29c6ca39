import { sql } from "kysely";
import { bounds, nanoToUsd, type Usage } from "#core/index.ts";
import type { ModelUsage, ReportStore } from "#ports/index.ts";
import { inSnapshot } from "../database/database.ts";
import { usageColumnOf } from "../ledger/ledger-columns.ts";
import { readyDays, rollupsWithin, type TimeSpan } from "../ledger/ledger-day-reading.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-desk.ts";
import { firstSliceMs, timeSlices } from "./report-slices.ts";

/** Whole hours that cover a time, cut down to the days that rollups can be of: a day is read by its own sums where all of it is asked for. */
export async function coveredHours({ connection }: ReportContext, { from, to }: TimeSpan): Promise<TimeSpan> {
  const { first, last } = await connection
    .selectFrom("usage_rollups")
    .select((eb) => [
      eb
        .selectFrom("usage_rollups")
        .select((e) => e.fn.min<number | null>("hour").as("hour"))
        .as("first"),
      eb.fn.max<number | null>("hour").as("last"),
    ])
    .executeTakeFirstOrThrow();
  if (first === null || last === null) return { from: 0, to: 0 };
  return {
    from: Math.max(Math.floor(from / hourMs) * hourMs, Math.floor(first / dayMs) * dayMs),
    to: Math.min(Math.ceil(to / hourMs) * hourMs, Math.floor(last / dayMs) * dayMs + dayMs),
  };
}

const summedColumns = ["requests", "cost_nano_usd", ...Object.values(usageColumnOf)] as const;
type Sums = Record<(typeof summedColumns)[number], number>;

/** Answers from one moment: which days are summed, their sums and those of hours belong together. */
export async function ofOneMoment<Answer>(
  { connection, ...context }: ReportContext,
  read: (context: ReportContext) => Promise<Answer>,
): Promise<Answer> {
  return await inSnapshot({ reading: connection }, (snapshot) => read({ ...context, connection: snapshot }));
}

export async function modelUsage(
  desk: ReportContext,
  model: string | null,
  from: number,
  to: number,
): Promise<readonly ModelUsage[]> {
  const models = new Map<string, Sums>();
  await ofOneMoment(desk, async (context) => {
    const { connection, flavour } = context;
    const hours = await coveredHours(context, { from, to });
    const days = await readyDays(connection, hours);
    await timeSlices(hours, firstSliceMs(context, dayMs), context.deadline, async (span) => {
      let query = rollupsWithin(connection, flavour, {
        span,
        days,
        needed: ["model"],
        columns: ["hour", "model", ...summedColumns],
      })
        .select("model")
        .select((eb) => summedColumns.map((column) => eb.fn.sum<number>(column).as(column)))
        .groupBy("model");
      if (model !== null) query = query.where("model", "=", model);
      for (const row of await query.execute()) {
        const sums = models.get(row.model);
        if (sums === undefined) models.set(row.model, row);
        else for (const column of summedColumns) sums[column] += row[column];
      }
    });
  });
  // The model of a refused call is whatever its caller wrote, so there may be any number.
  const dearest = [...models].sort(([, a], [, b]) => b.cost_nano_usd - a.cost_nano_usd || b.requests - a.requests);
  return dearest.slice(0, bounds.reportRowsMax).map(([name, sums]) => ({
    model: name,
    requests: sums.requests,
    costUsd: nanoToUsd(sums.cost_nano_usd),
    usage: Object.fromEntries(
      Object.entries(usageColumnOf).map(([usage, column]) => [usage as keyof Usage, sums[column]]),
    ),
  }));
}

type DeploymentUse = Awaited<ReturnType<ReportStore["deploymentUse"]>>[number];

export async function deploymentUse(context: ReportContext, since: number): Promise<readonly DeploymentUse[]> {
  const { last } = await context.connection
    .selectFrom("ledger_entries")
    .select((eb) => eb.fn.max<number | null>("at").as("last"))
    .executeTakeFirstOrThrow();
  const uses = new Map<string, { deployment: string; provider: string; attempts: number; failed: number }>();
  await timeSlices(
    { from: since, to: (last ?? -1) + 1 },
    firstSliceMs(context, hourMs),
    context.deadline,
    async (span) => {
      const rows = await context.connection
        .selectFrom("ledger_entries")
        .select(["deployment", "provider"])
        .select((eb) => [
          eb.fn.countAll<number>().as("attempts"),
          eb.fn
            .sum<number>(eb.case().when("outcome", "=", "failed").then(sql.lit(1)).else(sql.lit(0)).end())
            .as("failed"),
        ])
        .where("at", ">=", span.from)
        .where("at", "<", span.to)
        // What was refused before one was chosen says nothing of any.
        .where("deployment", "!=", "")
        .groupBy(["deployment", "provider"])
        .execute();
      for (const row of rows) {
        const name = `${row.provider} ${row.deployment}`;
        const use = uses.get(name);
        if (use === undefined) uses.set(name, { ...row });
        else {
          use.attempts += row.attempts;
          use.failed += row.failed;
        }
      }
    },
  );
  return [...uses.values()];
}

type DaySpend = Awaited<ReturnType<ReportStore["dailySpend"]>>[number];

/** Of keys, those with a budget stand alone, the dearest of them; the others of a group are put together. */
export async function dailySpend(
  desk: ReportContext,
  workspaceId: string | null,
  since: number,
  keyId?: string,
): Promise<readonly DaySpend[]> {
  return await ofOneMoment(desk, (context) => readDailySpend(context, workspaceId, since, keyId));
}

async function readDailySpend(
  context: ReportContext,
  workspaceId: string | null,
  since: number,
  keyId: string | undefined,
): Promise<readonly DaySpend[]> {
  const alone = keyId === undefined ? await keysWithBudget(context, workspaceId) : new Set([keyId]);
  const spends = new Map<string, Spend>();
  const add = (spend: Spend) => {
    const name = `${spend.day} ${spend.groupId} ${spend.keyId} ${spend.workspaceId}`;
    const known = spends.get(name);
    if (known === undefined) spends.set(name, spend);
    else known.nano += spend.nano;
  };
  const hours = await coveredHours(context, { from: since, to: Number.MAX_SAFE_INTEGER });
  const { connection, flavour } = context;
  const days = await readyDays(connection, hours);
  const { day, key } = spendGroups(context, keyId);
  const byKey = alone.size === 0 ? [] : (["key_id"] as const);
  await timeSlices(hours, firstSliceMs(context, dayMs), context.deadline, async (span) => {
    let query = rollupsWithin(connection, flavour, {
      span,
      days,
      needed: ["workspace_id", "group_id", ...byKey],
      columns: ["hour", "workspace_id", "group_id", "key_id", "cost_nano_usd"],
    })
      .select(["workspace_id", "group_id", day.as("hour"), key.as("key_id")])
      .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("nano"))
      .where("cost_nano_usd", ">", 0)
      .groupBy([day, "workspace_id", "group_id", key]);
    if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
    if (keyId !== undefined) query = query.where("key_id", "=", keyId);
    for (const row of await query.execute()) {
      const [key, day] = [alone.has(row.key_id) ? row.key_id : "", row.hour - (row.hour % dayMs)];
      add({ workspaceId: row.workspace_id, groupId: row.group_id, keyId: key, day, nano: row.nano });
    }
  });
  const cheap = [...spends].filter(([, { keyId }]) => keyId !== "").sort(([, a], [, b]) => b.nano - a.nano);
  for (const [name, spend] of cheap.slice(bounds.reportRowsMax)) {
    spends.delete(name);
    add({ ...spend, keyId: "" });
  }
  return [...spends.values()].map(({ nano, ...spend }) => ({ ...spend, usd: nanoToUsd(nano) }));
}

/**
 * What spends are summed by in the database. SQLite gives them as its hours lie; PostgreSQL, which sends each row over a socket, by day
 * and with the keys put together that do not stand alone.
 */
function spendGroups({ connection, flavour }: ReportContext, keyId: string | undefined) {
  if (flavour.name === "sqlite") return { day: sql<number>`hour`, key: sql<string>`key_id` };
  const day = sql<number>`hour - hour % ${sql.lit(dayMs)}`;
  if (keyId !== undefined) return { day, key: sql<string>`key_id` };
  const alone = connection.selectFrom("api_keys").select("id").where("budget", "is not", null);
  return { day, key: sql<string>`case when key_id in (${alone}) then key_id else '' end` };
}

interface Spend extends Omit<DaySpend, "usd"> {
  nano: number;
}

async function keysWithBudget({ connection }: ReportContext, workspaceId: string | null): Promise<ReadonlySet<string>> {
  let query = connection.selectFrom("api_keys").select("id").where("budget", "is not", null);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  return new Set((await query.execute()).map(({ id }) => id));
}

/** How many entries there are, right to those of the hour that retention has come to: read from the sums. */
export async function entryCount(desk: ReportContext): Promise<number> {
  return await ofOneMoment(desk, async ({ connection, flavour }) => {
    const pruned = await prunedBefore(connection);
    const span = { from: pruned - (pruned % hourMs), to: Number.MAX_SAFE_INTEGER };
    const days = await readyDays(connection, span);
    const { entries } = await rollupsWithin(connection, flavour, { span, days, needed: [], columns: ["attempts"] })
      .select((eb) => eb.fn.sum<number | null>("attempts").as("entries"))
      .executeTakeFirstOrThrow();
    return entries ?? 0;
  });
}
