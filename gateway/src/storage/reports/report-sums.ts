import { sql } from "kysely";
import { bounds, comparedCosts, nanoToUsd, personOfScope, type Usage } from "#core/index.ts";
import type { CostFilter, CostSum, ModelUsage, PersonDaySpend, ReportStore } from "#ports/index.ts";
import { usageColumnOf } from "../ledger/ledger-columns.ts";
import { peopleTimes, type Rollups, readyDays, rollupsWithin } from "../ledger/ledger-day-reading.ts";
import { dayMs, type ScopeColumn } from "../ledger/ledger-days.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { hourMs, type rollupSums } from "../ledger/ledger-rollup.ts";
import { coveredHours, firstSliceMs, ofOneMoment, type ReportContext, sumsOverTime } from "./report-context.ts";

interface ScopeSums<Name extends ScopeColumn, Sum extends (typeof rollupSums)[number]> {
  readonly from: number;
  readonly to: number;
  readonly names: readonly Name[];
  readonly sums: readonly Sum[];
  /** Columns that are chosen by beside those. */
  readonly chosenBy?: readonly ScopeColumn[];
  readonly choose: (rows: Rollups) => Rollups;
}

type SumRow<Name extends string, Sum extends string> = Readonly<Record<Name, string> & Record<Sum, number>>;

/** Sums of all rollups of a time by some columns of their scope. */
async function sumsByScope<Name extends ScopeColumn, Sum extends (typeof rollupSums)[number]>(
  asked: ReportContext,
  { from, to, names, sums, chosenBy = [], choose }: ScopeSums<Name, Sum>,
): Promise<readonly SumRow<Name, Sum>[]> {
  return await ofOneMoment(asked, async (context) => {
    const { connection, flavour } = context;
    const hours = await coveredHours(context, { from, to });
    const days = await readyDays(connection, hours);
    const needed = [...names, ...chosenBy];
    const time = { ...hours, firstMs: firstSliceMs(context, dayMs) };
    return await sumsOverTime(context, time, { names, sums }, async (span) => {
      const rows = rollupsWithin(connection, flavour, {
        span,
        days,
        needed,
        columns: ["hour", ...needed, ...sums],
        choose,
      });
      const query = rows
        .select([...names])
        .select((eb) => sums.map((column) => eb.fn.sum<number>(column).as(column)))
        .groupBy([...names]);
      return (await query.execute()) as unknown as readonly SumRow<Name, Sum>[];
    });
  });
}

function ofWorkspace(rows: Rollups, workspaceId: string | null): Rollups {
  return workspaceId === null ? rows : rows.where("workspace_id", "=", workspaceId);
}

/** What was charged and what vendors reported, by provider and model. Calls that were refused before a provider was chosen are left out. */
export async function costs(
  context: ReportContext,
  { workspaceId, from, to }: CostFilter,
): Promise<readonly CostSum[]> {
  const pairs = await sumsByScope(context, {
    from,
    to,
    names: ["provider", "model"],
    sums: ["attempts", "cost_nano_usd", "vendor_cost_nano_usd", "compared_cost_nano_usd"],
    chosenBy: ["workspace_id"],
    choose: (rows) => ofWorkspace(rows.where("provider", "!=", ""), workspaceId),
  });
  return pairs
    .toSorted((a, b) => b.cost_nano_usd - a.cost_nano_usd || b.attempts - a.attempts || (a.model < b.model ? -1 : 1))
    .slice(0, bounds.reportRowsMax)
    .map((sums) => ({
      provider: sums.provider,
      model: sums.model,
      attempts: sums.attempts,
      cost_usd: nanoToUsd(sums.cost_nano_usd),
      ...comparedCosts(sums.vendor_cost_nano_usd, sums.compared_cost_nano_usd),
    }));
}

export async function modelUsage(
  context: ReportContext,
  model: string | null,
  from: number,
  to: number,
): Promise<readonly ModelUsage[]> {
  const models = await sumsByScope(context, {
    from,
    to,
    names: ["model"],
    sums: ["requests", "cost_nano_usd", ...Object.values(usageColumnOf)],
    choose: (rows) => (model === null ? rows : rows.where("model", "=", model)),
  });
  // The model of a refused call is whatever its caller wrote, so there may be any number.
  return models
    .toSorted((a, b) => b.cost_nano_usd - a.cost_nano_usd || b.requests - a.requests)
    .slice(0, bounds.reportRowsMax)
    .map((sums) => ({
      model: sums.model,
      requests: sums.requests,
      costUsd: nanoToUsd(sums.cost_nano_usd),
      usage: Object.fromEntries(
        Object.entries(usageColumnOf).map(([usage, column]) => [usage as keyof Usage, sums[column]]),
      ),
    }));
}

type DeploymentUse = Awaited<ReturnType<ReportStore["deploymentUse"]>>;

export async function deploymentUse(context: ReportContext, since: number): Promise<DeploymentUse> {
  const { last } = await context.connection
    .selectFrom("ledger_entries")
    .select((eb) => eb.fn.max<number | null>("at").as("last"))
    .executeTakeFirstOrThrow();
  const time = { from: since, to: (last ?? -1) + 1, firstMs: firstSliceMs(context, hourMs) };
  const sums = { names: ["deployment", "provider"], sums: ["attempts", "failed"] } as const;
  return await sumsOverTime(context, time, sums, (span) =>
    context.connection
      .selectFrom("ledger")
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
      .execute(),
  );
}

type DaySpend = Awaited<ReturnType<ReportStore["dailySpend"]>>[number];
type Spend = Omit<DaySpend, "usd"> & { readonly nano: number };

/** Of keys, those with a budget stand alone, the dearest of them; the others of a group are put together. */
export async function dailySpend(
  asked: ReportContext,
  workspaceId: string | null,
  since: number,
  keyId?: string,
): Promise<readonly DaySpend[]> {
  const spends = await ofOneMoment(asked, async (context): Promise<readonly Spend[]> => {
    const { connection, flavour } = context;
    const alone = keyId === undefined ? await keysWithBudget(context, workspaceId) : new Set([keyId]);
    const hours = await coveredHours(context, { from: since, to: Number.MAX_SAFE_INTEGER });
    const days = await readyDays(connection, hours);
    const { day, key } = spendGroups(context, keyId);
    const needed = ["workspace_id", "group_id", ...(alone.size === 0 ? [] : (["key_id"] as const))] as const;
    const time = { ...hours, firstMs: firstSliceMs(context, dayMs) };
    const columns = { names: ["day", "workspaceId", "groupId", "keyId"], sums: ["nano"] } as const;
    return await sumsOverTime(context, time, columns, async (span) => {
      const rows = await rollupsWithin(connection, flavour, {
        span,
        days,
        needed,
        columns: ["hour", "workspace_id", "group_id", "key_id", "cost_nano_usd"],
        choose: (given) => {
          const chosen = ofWorkspace(given.where("cost_nano_usd", ">", 0), workspaceId);
          return keyId === undefined ? chosen : chosen.where("key_id", "=", keyId);
        },
      })
        .select(["workspace_id as workspaceId", "group_id as groupId", day.as("hour"), key.as("keyId")])
        .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("nano"))
        .groupBy([day, "workspace_id", "group_id", key])
        .execute();
      return rows.map(({ hour, keyId: id, ...row }) => ({
        ...row,
        day: hour - (hour % dayMs),
        keyId: alone.has(id) ? id : "",
      }));
    });
  });
  const dearest = spends.filter((spend) => spend.keyId !== "").sort((a, b) => b.nano - a.nano);
  const apart = new Set(dearest.slice(0, bounds.reportRowsMax));
  const together = new Map<string, Spend>();
  for (const spend of spends) {
    if (apart.has(spend)) continue;
    const name = `${spend.day} ${spend.groupId} ${spend.workspaceId}`;
    together.set(name, { ...spend, keyId: "", nano: spend.nano + (together.get(name)?.nano ?? 0) });
  }
  return [...apart, ...together.values()].map(({ nano, ...spend }) => ({ ...spend, usd: nanoToUsd(nano) }));
}

/**
 * What spends are summed by in the database. SQLite gives them as its hours lie; PostgreSQL, which sends each row over a socket, by day
 * and with the keys put together that do not stand alone.
 */
function spendGroups({ connection, flavour }: ReportContext, keyId: string | undefined) {
  if (flavour.name === "sqlite") return { day: sql<number>`hour`, key: sql<string>`key_id` };
  const day = dayOfHour;
  if (keyId !== undefined) return { day, key: sql<string>`key_id` };
  const alone = connection.selectFrom("api_keys").select("id").where("budget", "is not", null);
  return { day, key: sql<string>`case when key_id in (${alone}) then key_id else '' end` };
}

async function keysWithBudget({ connection }: ReportContext, workspaceId: string | null): Promise<ReadonlySet<string>> {
  let query = connection.selectFrom("api_keys").select("id").where("budget", "is not", null);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  return new Set((await query.execute()).map(({ id }) => id));
}

/** What some people have spent by workspace and day; `scopeIds` as `personScopeId` makes them. */
export async function personDailySpend(
  asked: ReportContext,
  scopeIds: readonly string[],
  since: number,
): Promise<readonly PersonDaySpend[]> {
  const ids = [...new Set(scopeIds.map((id) => personOfScope(id)[1]))];
  if (ids.length === 0) return [];
  const spends = await ofOneMoment(asked, async (context) => {
    const { connection, flavour } = context;
    const hours = await coveredHours(context, { from: since, to: Number.MAX_SAFE_INTEGER });
    const { days, shared } = await peopleTimes(connection, await readyDays(connection, hours), hours);
    const time = { ...hours, firstMs: firstSliceMs(context, dayMs) };
    const columns = { names: ["day", "workspaceId", "personId"], sums: ["nano"] } as const;
    return await sumsOverTime<Omit<PersonDaySpend, "usd"> & { readonly nano: number }>(context, time, columns, (span) =>
      rollupsWithin(connection, flavour, {
        span,
        days,
        people: { shared },
        needed: ["workspace_id"],
        columns: ["hour", "workspace_id", "person_id", "cost_nano_usd"],
        choose: (given) => given.where("person_id", "in", ids),
      })
        .select(["workspace_id as workspaceId", sql<string>`person_id`.as("personId"), dayOfHour.as("day")])
        .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("nano"))
        .where("cost_nano_usd", ">", 0)
        .groupBy(["workspace_id", "person_id", dayOfHour])
        .execute(),
    );
  });
  return spends.map(({ nano, ...spend }) => ({ ...spend, usd: nanoToUsd(nano) }));
}

const dayOfHour = sql<number>`hour - hour % ${sql.lit(dayMs)}`;

/** How many entries there are, right to those of the hour that retention has come to: read from the sums. */
export async function entryCount(asked: ReportContext): Promise<number> {
  return await ofOneMoment(asked, async ({ connection, flavour }) => {
    const pruned = await prunedBefore(connection);
    const span = { from: pruned - (pruned % hourMs), to: Number.MAX_SAFE_INTEGER };
    const days = await readyDays(connection, span);
    const { entries } = await rollupsWithin(connection, flavour, { span, days, needed: [], columns: ["attempts"] })
      .select((eb) => eb.fn.sum<number | null>("attempts").as("entries"))
      .executeTakeFirstOrThrow();
    return entries ?? 0;
  });
}
