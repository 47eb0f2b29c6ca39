import { type RawBuilder, type SqlBool, sql } from "kysely";
import { bounds, type PolicyCounter, personOfScope } from "#core/index.ts";
import type { PolicyValue, RecentCost, SpendingQuery, SpendingReport, SpentAmount } from "#ports/index.ts";
import { equalsGiven, withoutIndex } from "../database/conditions.ts";
import type { Flavour } from "../database/database.ts";
import type { Row } from "../database/schema.ts";
import { rollupsWithin, type SummedTimes, summedTimes } from "../ledger/ledger-day-reading.ts";
import { dayMs, type ScopeColumn, type TimeSpan } from "../ledger/ledger-grains.ts";
import { endedSince } from "../ledger/ledger-reading.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { policyColumns, policyFilter, splitOf } from "./policy-filter.ts";
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
    return { spent, recent: await recentCosts({ connection, ...rest }, asks, since) };
  });
}

export async function policyValues(
  context: ReportContext,
  counter: PolicyCounter,
  from: number,
  limit: number,
): Promise<readonly PolicyValue[]> {
  return await inOneSnapshot(context, async ({ connection, flavour }) => {
    const split = splitOf(flavour, counter);
    if (split === null) return [];
    const span = { from, to: Number.MAX_SAFE_INTEGER };
    const needed = policyColumns(counter);
    const rows = await rollupsWithin(connection, flavour, {
      ...{ span, summed: await summedTimes(connection, span), needed },
      columns: [...needed, "cost_nano_usd"],
      filter: (all) => all.where((eb) => eb.and(policyFilter(flavour, { ...counter, value: null }))),
    })
      .select(split.as("value"))
      .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("amount"))
      .groupBy("value")
      .orderBy("amount", "desc")
      .orderBy("value")
      .limit(limit)
      .execute();
    return rows.map(({ value, amount }) => ({ value, amount: Number(amount) }));
  });
}

/** An amount of money and when it was spent: an hour of sums, or the moment of an entry. */
interface Spent {
  readonly at: number;
  readonly amount: number;
}

async function spentBy(context: ReportContext, summed: SummedTimes, query: SpendingQuery): Promise<SpentAmount> {
  const { from, to, bucketMs } = query;
  const end = to ?? Number.MAX_SAFE_INTEGER;
  // The first and last part of an hour, for example of a month in India.
  const firstHour = Math.ceil(from / hourMs) * hourMs;
  const lastHour = to === null ? end : Math.floor(end / hourMs) * hourMs;
  const isShort = bucketMs !== undefined && bucketMs < hourMs;
  const ofEntries: TimeSpan[] = [{ from, to: isShort ? end : Math.min(firstHour, end) }];
  if (!isShort && lastHour < end && lastHour >= firstHour) ofEntries.push({ from: lastHour, to: lastHour + hourMs });
  const parts: Spent[] = [];
  for (const span of ofEntries) if (span.from < span.to) parts.push(...(await entriesIn(context, query, span)));
  if (!isShort) parts.push(...(await hoursSince(context, summed, query, ofEntries)));
  let [amount, later] = [0, 0];
  const buckets = new Map<number, number>();
  for (const { at, amount: spent } of parts) {
    if (at >= end) later += spent;
    else amount += spent;
    if (bucketMs !== undefined) add(buckets, at - (at % bucketMs), spent);
  }
  return { amount, later, ...(bucketMs === undefined ? {} : { buckets: [...buckets] }) };
}

function add(sums: Map<number, number>, at: number, amount: number): void {
  sums.set(at, (sums.get(at) ?? 0) + amount);
}

/** Sums of whole hours, except those that are read from entries. Keys and people have few rows, so no sums are used for them. */
async function hoursSince(
  { connection, flavour }: ReportContext,
  summed: SummedTimes,
  query: SpendingQuery,
  ofEntries: readonly TimeSpan[],
): Promise<readonly Spent[]> {
  const { kind, from, to, bucketMs } = query;
  const end = to ?? Number.MAX_SAFE_INTEGER;
  const isOne = kind === "key" || kind === "person";
  const days = bucketMs === undefined ? summed.days.flatMap((run) => splitAt(run, end)) : [];
  const length = sql.lit(bucketMs ?? 1);
  const at =
    bucketMs === undefined
      ? sql<number>`case when hour < ${sql.lit(end)} then 0 else ${sql.lit(end)} end`
      : sql<number>`hour - hour % ${length}`;
  let rows = rollupsWithin(connection, flavour, {
    span: { from: Math.ceil(from / hourMs) * hourMs, to: Number.MAX_SAFE_INTEGER },
    summed: isOne ? noSums : { ...summed, days },
    needed: columnsNeeded(query),
    columns: ["hour", "cost_nano_usd"],
    filter: (all) => all.where((eb) => eb.and(filterOf(flavour, query))),
  });
  for (const span of ofEntries.slice(1)) rows = rows.where("hour", "!=", span.from);
  const sums = await rows
    .select(at.as("at"))
    .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("amount"))
    .groupBy("at")
    .execute();
  return sums.map((sum) => ({ at: Number(sum.at), amount: Number(sum.amount) }));
}

/** By minute. */
async function entriesIn(
  { connection, flavour }: ReportContext,
  query: SpendingQuery,
  { from, to }: TimeSpan,
): Promise<readonly Spent[]> {
  const sums = await connection
    .selectFrom("ledger")
    .select(sql<number>`at - at % 60000`.as("minute"))
    .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("amount"))
    .where("at", ">=", from)
    .where("at", "<", to)
    .where("cost_nano_usd", "!=", 0)
    .where((eb) => eb.and(filterOf(flavour, query)))
    .groupBy("minute")
    .execute();
  return sums.map(({ minute, amount }) => ({ at: Number(minute), amount: Number(amount) }));
}

function filterOf(flavour: Flavour, { kind, id, counter }: SpendingQuery): readonly RawBuilder<SqlBool>[] {
  if (counter !== undefined) return policyFilter(flavour, counter);
  if (kind === "policy") return [];
  if (kind !== "person") return equalsGiven<Row<"usage_rollups">>({ [columnOf[kind]]: id });
  const [workspaceId, personId] = personOfScope(id);
  return equalsGiven<Row<"usage_rollups">>({ workspace_id: workspaceId, person_id: personId });
}

function columnsNeeded({ kind, counter }: SpendingQuery): readonly ScopeColumn[] {
  if (counter !== undefined) return policyColumns(counter);
  if (kind === "person") return ["workspace_id", "person_id"];
  return kind === "policy" ? [] : ["group_id", columnOf[kind]];
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
  { connection, flavour }: ReportContext,
  asks: readonly SpendingQuery[],
  since: number,
): Promise<readonly RecentCost[]> {
  const ofPolicies = asks.filter(({ counter }) => counter !== undefined);
  const scopes = [...Map.groupBy(asks, ({ kind }) => kind)].flatMap(([kind, of]) => {
    if (kind === "policy") return [];
    return [
      {
        column: columnOf[kind],
        ids: [...new Set(of.map(({ id }) => (kind === "person" ? personOfScope(id)[1] : id)))],
      },
    ];
  });
  const [usual, long] = endedSince(connection, since);
  const costing = (entries: typeof usual) =>
    entries
      .select(["attempt_id", "at", "workspace_id", "group_id", "key_id", "person_id", "cost_nano_usd"])
      .select(["model", "provider", "tags"])
      .where("cost_nano_usd", "!=", 0)
      // SQLite would choose the index of a workspace or key, and read all of its entries to find the long calls.
      .where((eb) =>
        eb.or([
          ...scopes.map(({ column, ids }) => eb(withoutIndex(eb.ref(column)), "in", ids)),
          ...ofPolicies.map((ask) => eb.and(filterOf(flavour, ask))),
        ]),
      );
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
    ...(ofPolicies.length === 0
      ? {}
      : { model: row.model, provider: row.provider, tags: row.tags === "" ? {} : JSON.parse(row.tags) }),
    costNanoUsd: row.cost_nano_usd,
  }));
}
