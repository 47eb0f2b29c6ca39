import { type ExpressionBuilder, type SqlBool, sql } from "kysely";
import type {
  KeyUsageQuery,
  LedgerFilter,
  LedgerPage,
  LedgerStore,
  RecentRow,
  UsageShare,
  UsageSum,
} from "#ports/index.ts";
import { equalsGiven } from "../database/conditions.ts";
import { type Connection, type Database, inSnapshot } from "../database/database.ts";
import { cursorOf, cutPage, isAfter, pageSize, parseCursor } from "../database/pages.ts";
import type { Row, Tables } from "../database/schema.ts";
import { inputColumns, outputColumns, storedEntry } from "./ledger-columns.ts";
import type { Rollups } from "./ledger-day-reading.ts";
import { countedEntries, hourMs, tagValueIn } from "./ledger-rollup.ts";
import { readTags } from "./rollup-tags.ts";

/** Newest first. The cursor is the last entry's position, so new entries do not shift pages. */
export async function ledgerPage(
  database: Database,
  filter: LedgerFilter,
  cursor: string | null,
  limit: number,
): Promise<LedgerPage> {
  const size = pageSize(limit);
  const after = cursor === null ? null : parseCursor(cursor);
  let query = database.kysely
    .selectFrom("ledger")
    .select(["at", "attempt_id", "record"])
    .where((eb) => matches(eb, filter))
    .orderBy("at", "desc")
    .orderBy("attempt_id", "desc")
    // One more shows whether there is a next page.
    .limit(size + 1);
  if (after !== null) {
    query = query.where(isAfter(["at", "attempt_id"], after));
  }
  const rows = await query.execute();
  const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.at, id: last.attempt_id }));
  return { entries: page.map(storedEntry), next };
}

function matches(eb: ExpressionBuilder<Tables, "ledger">, filter: LedgerFilter) {
  return eb.and([
    ...scopeOf(filter),
    ...equalsGiven<Row<"ledger">>({
      person_id: filter.personId,
      outcome: filter.outcome,
      request_id: filter.requestId,
    }),
    ...(filter.from === undefined ? [] : [eb("at", ">=", filter.from)]),
    ...(filter.to === undefined ? [] : [eb("at", "<", filter.to)]),
  ]);
}

/** Filters that rollups support. */
function scopeOf({ workspaceId, groupId, keyId, model, provider }: LedgerFilter) {
  const filters = { workspace_id: workspaceId, group_id: groupId, key_id: keyId, model, provider };
  return equalsGiven<Row<"usage_rollups">>(filters);
}

/** Longer calls have a separate index. The same number as in migration 001. */
const longCallMs = 60_000;

/**
 * Entries that ended since a moment, in two parts: nearly all ended soon after they began and are found by that, the few long ones by
 * their index.
 */
export function endedSince(connection: Connection, since: number) {
  const entries = () => connection.selectFrom("ledger").where("ended_at", ">=", since);
  const longAfter = sql.lit(longCallMs);
  return [
    entries()
      .where("at", ">=", since - longCallMs)
      .where(sql<SqlBool>`ended_at <= at + ${longAfter}`),
    entries().where(sql<SqlBool>`ended_at > at + ${longAfter}`),
  ] as const;
}

/** By key and second, as few rows as the last minute's rates need. */
export async function recentEntries(
  { kysely: connection }: Database,
  sinceMs: number,
  untilMs: number,
): Promise<readonly RecentRow[]> {
  const second = sql<number>`at - at % 1000`;
  const [usual, long] = endedSince(connection, sinceMs);
  const summedUp = (entries: typeof usual) =>
    entries
      .select(["workspace_id", "group_id", "key_id", "person_id", second.as("second")])
      .select((eb) => [
        sql<number>`sum(case when retry_index = 0 then calls else 0 end)`.as("requests"),
        ...tokenColumns.map((column) => eb.fn.sum<number>(column).as(column)),
      ])
      .where("ended_at", "<=", untilMs)
      .where("outcome", "!=", "rejected")
      .groupBy(["workspace_id", "group_id", "key_id", "person_id", second]);
  const rows = await summedUp(usual).unionAll(summedUp(long)).orderBy("second").orderBy("key_id").execute();
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

const tokenColumns = [...inputColumns, ...outputColumns];

/** A tag to filter by (`value`), or to group by instead of the model. */
type TagUse = NonNullable<KeyUsageQuery["tag"]> & Pick<Database, "flavour">;

/**
 * Usage by model, or by the value of a tag. Whole hours come from rollups, which outlive entries; partial hours, and filters that rollups
 * lack, from entries.
 */
export async function usageByModel(
  database: Pick<Database, "reading">,
  filter: LedgerFilter,
  tag?: TagUse,
): Promise<readonly UsageSum[]> {
  const { from = 0, to = Number.MAX_SAFE_INTEGER, personId, outcome, requestId } = filter;
  const firstHour = Math.ceil(from / hourMs) * hourMs;
  const lastHour = filter.to === undefined ? to : Math.floor(to / hourMs) * hourMs;
  const ofEntries = [personId, outcome, requestId].some((value) => value !== undefined) || firstHour >= lastHour;
  // In one snapshot: an entry that arrives between the reads would be in none or in both.
  const parts = await inSnapshot(database, async (snapshot) => {
    if (ofEntries) return await sumsOf(entriesOf(snapshot, filter), tag);
    const hours = (snapshot.selectFrom("usage_rollups") as Rollups)
      .where("hour", ">=", firstHour)
      .where("hour", "<", lastHour)
      .where((eb) => eb.and(scopeOf(filter)));
    return [
      ...(await sumsOf(hours, tag)),
      ...(from < firstHour ? await sumsOf(entriesOf(snapshot, { ...filter, from, to: firstHour }), tag) : []),
      ...(lastHour < to ? await sumsOf(entriesOf(snapshot, { ...filter, from: lastHour, to }), tag) : []),
    ];
  });
  const total = new Map<string, UsageSum>();
  for (const sum of parts) {
    const sumOfModel = total.get(sum.model);
    total.set(sum.model, sumOfModel === undefined ? sum : added(sumOfModel, sum));
  }
  return [...total.values()].sort((a, b) => (a.model < b.model ? -1 : 1));
}

function added({ model, ...a }: UsageSum, b: UsageSum): UsageSum {
  const sums = Object.entries<number>(a).map(([name, sum]) => [name, sum + b[name as keyof typeof a]]);
  return { model, ...(Object.fromEntries(sums) as typeof a) };
}

function entriesOf(connection: Connection, filter: LedgerFilter): Rollups {
  const counted = countedEntries(connection, { times: false }).where((eb) => matches(eb, filter));
  return connection.selectFrom(counted.as("usage_rollups")) as unknown as Rollups;
}

const summed = [
  ...tokenColumns,
  "requests",
  "cost_nano_usd",
  "vendor_cost_nano_usd",
  "compared_cost_nano_usd",
] as const;

async function sumsOf(given: Rollups, tag: TagUse | undefined): Promise<readonly UsageSum[]> {
  const value = tag === undefined ? null : tagValueIn(tag.flavour, tag.name);
  const rollups = value === null || tag?.value === undefined ? given : given.where(value, "=", tag.value);
  const rows = await rollups
    .select((value !== null && tag?.groups === true ? value : sql<string>`model`).as("group"))
    .select((eb) => summed.map((column) => eb.fn.sum<number>(column).as(column)))
    .groupBy("group")
    .execute();
  return rows.map((row) => {
    const sum = (columns: readonly (typeof tokenColumns)[number][]) =>
      columns.reduce((all, column) => all + Number(row[column]), 0);
    return {
      model: row.group,
      requests: Number(row.requests),
      inputTokens: sum(inputColumns),
      outputTokens: sum(outputColumns),
      costNanoUsd: Number(row.cost_nano_usd),
      vendorCostNanoUsd: Number(row.vendor_cost_nano_usd),
      comparedCostNanoUsd: Number(row.compared_cost_nano_usd),
    };
  });
}

export async function usageShares(
  { kysely }: Pick<Database, "kysely">,
  { provider, models, from, to }: Parameters<LedgerStore["shares"]>[0],
): Promise<readonly UsageShare[]> {
  const scope = ["workspace_id", "group_id", "key_id", "person_id", "tags", "model"] as const;
  if (models.length === 0) return [];
  const rows = await kysely
    .selectFrom("usage_rollups")
    .select(scope)
    .select((eb) => [eb.fn.sum<number>("attempts").as("attempts"), eb.fn.sum<number>("cost_nano_usd").as("cost")])
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .where("provider", "=", provider)
    .where("model", "in", [...models])
    .where("endpoint", "!=", "adjustment")
    .groupBy(scope)
    .having((eb) => eb.or([eb(eb.fn.sum("attempts"), ">", 0), eb(eb.fn.sum("cost_nano_usd"), ">", 0)]))
    .orderBy("workspace_id")
    .orderBy("group_id")
    .orderBy("key_id")
    .orderBy("person_id")
    .orderBy("tags")
    .orderBy("model")
    .execute();
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    ...(row.person_id === "" ? {} : { personId: row.person_id }),
    tags: Object.fromEntries(readTags(row.tags)),
    model: row.model,
    attempts: Number(row.attempts),
    costNanoUsd: Number(row.cost),
  }));
}
