import { sql } from "kysely";
import { bounds, comparedCosts, nanoToUsd, personOfScope, type Usage, usageClassColumns } from "#core/index.ts";
import type { CostFilter, CostSum, ModelUsage, PersonDaySpend, ReportStore } from "#ports/index.ts";
import { withoutIndex } from "../database/conditions.ts";
import {
  type Rollups,
  type RowPart,
  rollupsWithin,
  type SummedStarts,
  summedDays,
  summedHours,
  summedTimes,
} from "../ledger/ledger-day-reading.ts";
import { dayMs, type ScopeColumn, type TimeSpan } from "../ledger/ledger-grains.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { hourMs, type rollupSums } from "../ledger/ledger-rollup.ts";
import {
  firstSliceMs,
  hoursWithData,
  inOneSnapshot,
  type ReportContext,
  sumsOverTime,
  timeSlices,
} from "./report-context.ts";
import { pastTimes, restOf } from "./report-usage-rows.ts";

interface ScopeSums<Name extends ScopeColumn, Sum extends (typeof rollupSums)[number]> {
  readonly from: number;
  readonly to: number;
  readonly names: readonly Name[];
  readonly sums: readonly Sum[];
  /** Additional columns that `filter` uses. */
  readonly filterColumns?: readonly ScopeColumn[];
  readonly filter: (rows: Rollups) => Rollups;
  /** The values that `filter` uses: a part of the name of cached sums. */
  readonly filtered: unknown;
}

type SumRow<Name extends string, Sum extends string> = Readonly<Record<Name, string> & Record<Sum, number>>;

/** Past times are cached. */
export async function sumsByScope<Name extends ScopeColumn, Sum extends (typeof rollupSums)[number]>(
  context: ReportContext,
  { from, to, names, sums, filterColumns = [], filter, filtered }: ScopeSums<Name, Sum>,
): Promise<readonly SumRow<Name, Sum>[]> {
  return await inOneSnapshot(context, async (context) => {
    const { connection, flavour, pastSums } = context;
    const hours = await hoursWithData(context, { from, to });
    const counters = await countersIn(context, hours);
    const summed = await summedTimes(connection, hours, counters);
    const needed = [...names, ...filterColumns];
    const read = async (part: RowPart) =>
      await sumsOverTime<SumRow<Name, Sum>>(
        context,
        { ...part.span, firstMs: firstSliceMs(context, dayMs) },
        { names, sums },
        async (span) => {
          const columns = ["hour", ...needed, ...sums] as const;
          const query = rollupsWithin(connection, flavour, { ...part, span, summed, needed, columns, filter })
            .select([...names])
            .select((eb) => sums.map((column) => eb.fn.sum<number>(column).as(column)))
            .groupBy([...names]);
          return (await query.execute()) as unknown as readonly SumRow<Name, Sum>[];
        },
      );
    const past = pastTimes(counters, hours);
    const question = JSON.stringify(["scope", names, sums, filtered]);
    const bytesOf = (rows: readonly unknown[]) => rows.length * (names.length + sums.length) * valueBytes;
    const found = [];
    for (const time of past) {
      found.push(await pastSums.find(question, time, () => read({ span: time, isPast: true }), bytesOf));
    }
    for (const part of restOf(context, hours, past)) found.push(await read(part));
    return mergedRows(found, { names, sums });
  });
}

/** Approximate size of a name or number in a cached row. */
const valueBytes = 32;

/** Rows with equal names are added up. The given rows are not modified. */
function mergedRows<Name extends string, Sum extends string>(
  parts: readonly (readonly SumRow<Name, Sum>[])[],
  { names, sums }: { readonly names: readonly Name[]; readonly sums: readonly Sum[] },
): readonly SumRow<Name, Sum>[] {
  const found = new Map<string, Record<Sum, number>>();
  for (const row of parts.flat()) {
    const name = names.map((column) => row[column]).join("\n");
    const sum = found.get(name);
    if (sum === undefined) found.set(name, { ...row });
    else for (const column of sums) sum[column] += row[column] as number;
  }
  return [...found.values()] as unknown as readonly SumRow<Name, Sum>[];
}

interface Counters {
  readonly days: SummedStarts;
  readonly hours: SummedStarts;
}

async function countersIn({ connection }: ReportContext, span: TimeSpan): Promise<Counters> {
  return { days: await summedDays(connection, span), hours: await summedHours(connection, span) };
}

function ofWorkspace(rows: Rollups, workspaceId: string | null): Rollups {
  return workspaceId === null ? rows : rows.where("workspace_id", "=", workspaceId);
}

/** Charged and vendor-reported cost by provider and model, without calls refused before a provider was chosen. */
export async function costs(
  context: ReportContext,
  { workspaceId, from, to }: CostFilter,
): Promise<readonly CostSum[]> {
  const pairs = await sumsByScope(context, {
    from,
    to,
    names: ["provider", "model"],
    sums: ["attempts", "cost_nano_usd", "vendor_cost_nano_usd", "compared_cost_nano_usd"],
    filterColumns: workspaceId === null ? [] : ["workspace_id"],
    filter: (rows) => ofWorkspace(rows.where("provider", "!=", ""), workspaceId),
    filtered: ["costs", workspaceId],
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

/** Cost of keys since a time, in whole hours. */
export async function spendOfKeys(
  context: ReportContext,
  keyIds: readonly string[],
  from: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await sumsByScope(context, {
    from,
    to: Number.MAX_SAFE_INTEGER,
    names: ["key_id"],
    sums: ["cost_nano_usd"],
    filter: (given) => given.where("key_id", "in", keyIds),
    filtered: ["keys", keyIds],
  });
  return new Map(rows.map((row) => [row.key_id, row.cost_nano_usd]));
}

export async function personSpend(
  context: ReportContext,
  from: number,
): Promise<Awaited<ReturnType<ReportStore["personSpend"]>>> {
  const rows = await sumsByScope(context, {
    from,
    to: Number.MAX_SAFE_INTEGER,
    names: ["person_id"],
    sums: ["cost_nano_usd"],
    filter: (given) => given,
    filtered: null,
  });
  return rows.flatMap(({ person_id: personId, cost_nano_usd: nano }) =>
    personId === "" || nano === 0 ? [] : [{ personId, usd: nanoToUsd(nano) }],
  );
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
    sums: ["requests", "succeeded", "cancelled", "cost_nano_usd", ...Object.values(usageClassColumns)],
    filter: (rows) => (model === null ? rows : rows.where("model", "=", model)),
    filtered: ["model", model],
  });
  // Refused calls have any model name, so there may be any number.
  return models
    .toSorted((a, b) => b.cost_nano_usd - a.cost_nano_usd || b.requests - a.requests)
    .slice(0, bounds.reportRowsMax)
    .map((sums) => ({
      model: sums.model,
      requests: sums.requests,
      failedRequests: Math.max(0, sums.requests - sums.succeeded - sums.cancelled),
      costUsd: nanoToUsd(sums.cost_nano_usd),
      usage: Object.fromEntries(
        Object.entries(usageClassColumns).map(([usage, column]) => [usage as keyof Usage, sums[column]]),
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
      // Refused before a deployment was chosen.
      .where("deployment", "!=", "")
      // The usage of another model is no attempt.
      .where("calls", "!=", 0)
      .groupBy(["deployment", "provider"])
      .execute(),
  );
}

type DaySpend = Awaited<ReturnType<ReportStore["dailySpend"]>>[number];
type Spend = Omit<DaySpend, "usd"> & { nano: number };

/** The most expensive keys with a budget have their own rows; other keys are summed by group. Past days are cached. */
export async function dailySpend(
  context: ReportContext,
  workspaceId: string | null,
  since: number,
  keyId?: string,
): Promise<readonly DaySpend[]> {
  const spends = await inOneSnapshot(context, async (snapshot) => {
    const hours = await hoursWithData(snapshot, { from: since, to: Number.MAX_SAFE_INTEGER });
    const read = (parts: readonly RowPart[]) => readSpends(snapshot, hours, parts, { workspaceId, keyId });
    const past = pastTimes(await countersIn(snapshot, hours), hours);
    const found = [await read(restOf(snapshot, hours, past))];
    const question = JSON.stringify(["dailySpend", workspaceId, keyId, await keysWithBudget(snapshot)]);
    const bytesOf = ({ keys, groups }: Spends) => (keys.length + groups.length) * spendBytes;
    for (const time of past) {
      const readPast = () => read([{ span: time, isPast: true }]);
      found.push(await snapshot.pastSums.find(question, time, readPast, bytesOf));
    }
    const keys = mergedSpends(found.map((each) => each.keys));
    return {
      keys: keyId === undefined ? mostExpensive(keys) : keys,
      groups: mergedSpends(found.map((each) => each.groups)),
    };
  });
  const rest = new Map(spends.groups.map((spend) => [groupName(spend), { ...spend }]));
  for (const spend of spends.keys) {
    const group = rest.get(groupName(spend));
    if (group !== undefined) group.nano -= spend.nano;
  }
  const groups = [...rest.values()].filter(({ nano }) => nano !== 0);
  return [...spends.keys, ...groups].map(({ nano, ...spend }) => ({ ...spend, usd: nanoToUsd(nano) }));
}

/** A hash of the keys with a budget: they have their own rows, so cached sums depend on them. */
async function keysWithBudget({ connection, flavour }: ReportContext): Promise<string> {
  // As one text, because there may be thousands.
  const { rows } =
    flavour.name === "postgres"
      ? await sql<{ ids: string | null }>`
          select string_agg(id, ',' order by id) as ids from api_keys where budget is not null`.execute(connection)
      : await sql<{ ids: string | null }>`
          select group_concat(id) as ids from (select id from api_keys where budget is not null order by id)`.execute(
          connection,
        );
  return String(Bun.hash(rows[0]?.ids ?? ""));
}

/** By day: the most expensive keys, and all groups with those keys. */
interface Spends {
  readonly keys: readonly Spend[];
  readonly groups: readonly Spend[];
}

const spendBytes = 250;

function groupName({ day, workspaceId, groupId }: Spend): string {
  return `${day} ${workspaceId} ${groupId}`;
}

function addedUp(spends: readonly Spend[]): readonly Spend[] {
  const sums = new Map<string, Spend>();
  for (const spend of spends) {
    const name = `${groupName(spend)} ${spend.keyId}`;
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { ...spend });
    else sum.nano += spend.nano;
  }
  return [...sums.values()];
}

/** Rows are unique in each part; only rows of a day that is in several parts are added up. */
function mergedSpends(parts: readonly (readonly Spend[])[]): readonly Spend[] {
  const partsOfDay = new Map<number, number>();
  for (const part of parts) {
    for (const day of new Set(part.map((spend) => spend.day))) partsOfDay.set(day, (partsOfDay.get(day) ?? 0) + 1);
  }
  const isShared = ({ day }: Spend) => partsOfDay.get(day) !== 1;
  const all = parts.flat();
  return [...all.filter((spend) => !isShared(spend)), ...addedUp(all.filter(isShared))];
}

function mostExpensive(spends: readonly Spend[]): readonly Spend[] {
  if (spends.length <= bounds.reportRowsMax) return spends;
  return spends.toSorted((a, b) => b.nano - a.nano).slice(0, bounds.reportRowsMax);
}

async function readSpends(
  context: ReportContext,
  hours: TimeSpan,
  parts: readonly RowPart[],
  { workspaceId, keyId }: { readonly workspaceId: string | null; readonly keyId: string | undefined },
): Promise<Spends> {
  const { connection, flavour, deadline } = context;
  const summed = await summedTimes(connection, hours);
  const budgeted = connection.selectFrom("api_keys").select("id").where("budget", "is not", null);
  const read = async (
    scope: readonly ("workspace_id" | "group_id" | "key_id")[],
    filter: (rows: Rollups) => Rollups,
  ) => {
    const found: Spend[] = [];
    const key = scope.includes("key_id") ? sql<string>`key_id` : sql<string>`''`;
    for (const part of parts) {
      await timeSlices(part.span, firstSliceMs(context, dayMs), deadline, async (span) => {
        const rows = rollupsWithin(connection, flavour, {
          ...{ ...part, span, summed, needed: scope, columns: ["hour", ...scope, "cost_nano_usd"] },
          filter: (given) => filter(ofWorkspace(given.where("cost_nano_usd", "!=", 0), workspaceId)),
        });
        const spends = await rows
          .select(["workspace_id as workspaceId", "group_id as groupId", dayOfHour.as("day"), key.as("keyId")])
          .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("nano"))
          .groupBy([dayOfHour, ...scope])
          .execute();
        for (const spend of spends) found.push(spend);
      });
    }
    return addedUp(found);
  };
  const scope = ["workspace_id", "group_id", "key_id"] as const;
  if (keyId !== undefined) return { keys: await read(scope, (rows) => rows.where("key_id", "=", keyId)), groups: [] };
  // There may be thousands of these keys, for which SQLite would search one by one.
  const keys = await read(scope, (rows) => rows.where((eb) => eb(withoutIndex(eb.ref("key_id")), "in", budgeted)));
  // A day that is in two parts is cut only once both are added up.
  const isShort = parts.every(({ span }) => span.to - span.from <= 2 * dayMs);
  return {
    keys: isShort ? keys : mostExpensive(keys),
    groups: await read(["workspace_id", "group_id"], (rows) => rows),
  };
}

/** `scopeIds`: see `personScopeId`. */
export async function personDailySpend(
  context: ReportContext,
  scopeIds: readonly string[],
  since: number,
): Promise<readonly PersonDaySpend[]> {
  const ids = [...new Set(scopeIds.map((id) => personOfScope(id)[1]))];
  if (ids.length === 0) return [];
  const spends = await inOneSnapshot(context, async (context) => {
    const { connection, flavour } = context;
    const hours = await hoursWithData(context, { from: since, to: Number.MAX_SAFE_INTEGER });
    const summed = await summedTimes(connection, hours);
    const time = { ...hours, firstMs: firstSliceMs(context, dayMs) };
    const columns = { names: ["day", "workspaceId", "personId"], sums: ["nano"] } as const;
    return await sumsOverTime<Omit<PersonDaySpend, "usd"> & { readonly nano: number }>(context, time, columns, (span) =>
      rollupsWithin(connection, flavour, {
        span,
        summed,
        needed: ["workspace_id", "person_id"],
        columns: ["hour", "workspace_id", "person_id", "cost_nano_usd"],
        filter: (given) => given.where("person_id", "in", ids),
      })
        .select(["workspace_id as workspaceId", sql<string>`person_id`.as("personId"), dayOfHour.as("day")])
        .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("nano"))
        .where("cost_nano_usd", "!=", 0)
        .groupBy(["workspace_id", "person_id", dayOfHour])
        .execute(),
    );
  });
  return spends.map(({ nano, ...spend }) => ({ ...spend, usd: nanoToUsd(nano) }));
}

const dayOfHour = sql<number>`hour - hour % ${sql.lit(dayMs)}`;

/** The number of entries from the sums, exact except for the hour up to which entries were pruned. */
export async function entryCount(context: ReportContext): Promise<number> {
  return await inOneSnapshot(context, async ({ connection, flavour }) => {
    const pruned = await prunedBefore(connection);
    const span = { from: pruned - (pruned % hourMs), to: Number.MAX_SAFE_INTEGER };
    const summed = await summedTimes(connection, span);
    const { entries } = await rollupsWithin(connection, flavour, { span, summed, needed: [], columns: ["attempts"] })
      .select((eb) => eb.fn.sum<number | null>("attempts").as("entries"))
      .executeTakeFirstOrThrow();
    return entries ?? 0;
  });
}
