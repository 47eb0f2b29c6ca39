import { sql } from "kysely";
import type { Connection, Database } from "../database/database.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import type { Row } from "../database/schema.ts";
import { bounded } from "./ledger-fold.ts";
import { hourMs, rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";

/** How long after its end a day is summed, and a changed day is summed again. */
export const summedDayLagMs = 7_200_000;
export const summedAgainMs = 600_000;
/** Days without calls are summed, too, in gaps up to this length. */
const summedGapMs = 31 * 86_400_000;

export const dayMs = 24 * hourMs;

export type ScopeColumn = Exclude<(typeof rollupScope)[number], "hour">;

export interface DayGrain {
  readonly name: string;
  readonly scope: readonly ScopeColumn[];
}

/**
 * The groupings of summed days (UTC), fewest rows first. Only the last includes the key, with its group and person: sums by all columns
 * would have nearly as many rows as the hours.
 */
export const dayGrains: readonly DayGrain[] = [
  { name: "provider", scope: ["provider"] },
  { name: "model", scope: ["model"] },
  { name: "group", scope: ["workspace_id", "group_id"] },
  { name: "workspace-provider", scope: ["workspace_id", "provider"] },
  { name: "workspace-model", scope: ["workspace_id", "model"] },
  { name: "served", scope: ["workspace_id", "group_id", "model", "provider"] },
  { name: "person", scope: ["workspace_id", "person_id"] },
  { name: "client", scope: ["workspace_id", "user_agent", "endpoint"] },
  { name: "tags", scope: ["workspace_id", "tags"] },
  { name: "key", scope: ["workspace_id", "group_id", "key_id", "person_id"] },
];

/** Also used in a trigger of migration 001, so it must not change. */
const touchLock = 5_310_043;
/** Held while a day is summed: of two concurrent sums, the later one reads newer rows. */
const sumLock = 5_310_044;

/**
 * Sums one day by every grain: the next that is over, else one that has changed, else the newest one before those summed. Resolves to 0
 * if there is none.
 * Each grain is one transaction, with no lock that inserts or folds wait for. A concurrent change of the day increments `touched`, and
 * its sums are not used until they are made again.
 */
export async function sumDay(database: Database, now: number): Promise<number> {
  const day = await nextDay(database.kysely, now);
  if (day === null) return 0;
  const touched = await changeCountOf(database, day);
  for (const grain of dayGrains) await sumGrain(database, day, grain);
  await database.kysely
    .updateTable("summed_days")
    .set({ summed: touched, summed_at: now })
    .where("day", "=", day)
    .execute();
  return 1;
}

async function nextDay(connection: Connection, now: number): Promise<number | null> {
  const over = dayOf(now - summedDayLagMs);
  // Ignores days summed while the clock was ahead.
  const summed = await connection
    .selectFrom("summed_days")
    .select("day")
    .where("day", "<", over)
    .orderBy("day")
    .execute();
  const days = summed.map(({ day }) => day);
  const [first, last] = [days[0], days.at(-1)];
  if (last !== undefined) {
    const next = await edgeHour(connection, "min", last + dayMs, over);
    if (next !== null) return dayOf(next);
  }
  const changed = await connection
    .selectFrom("summed_days")
    .select("day")
    .whereRef("summed", "!=", "touched")
    .where((eb) => eb.or([eb("summed_at", "<=", now - summedAgainMs), eb("summed_at", ">", now)]))
    .orderBy("day", "desc")
    .limit(1)
    .executeTakeFirst();
  if (changed !== undefined) return changed.day;
  const between = await dayBetween(connection, days);
  if (between !== null) return between;
  const before = await edgeHour(connection, "max", Number.MIN_SAFE_INTEGER, Math.min(first ?? over, over));
  return before === null ? null : dayOf(before);
}

/** The newest day between summed days. Short gaps without calls are summed too, because each gap would end a run of days. */
async function dayBetween(connection: Connection, days: readonly number[]): Promise<number | null> {
  for (let index = days.length - 1; index > 0; index--) {
    const [from, to] = [(days[index - 1] ?? 0) + dayMs, days[index] ?? 0];
    if (from >= to) continue;
    if (to - from <= summedGapMs) return to - dayMs;
    const hour = await edgeHour(connection, "max", from, to);
    if (hour !== null) return dayOf(hour);
  }
  return null;
}

async function edgeHour(connection: Connection, edge: "min" | "max", from: number, to: number): Promise<number | null> {
  const { hour } = await connection
    .selectFrom("usage_rollups")
    .select((eb) => eb.fn[edge]<number | null>("hour").as("hour"))
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .executeTakeFirstOrThrow();
  return hour;
}

function dayOf(at: number): number {
  return Math.floor(at / dayMs) * dayMs;
}

/** The change counter of the day. From here on, changes are counted. */
async function changeCountOf({ kysely, flavour }: Database, day: number): Promise<number> {
  const counted = async (connection: Connection) =>
    await connection.selectFrom("summed_days").select("touched").where("day", "=", day).executeTakeFirst();
  const summed = await counted(kysely);
  if (summed !== undefined) return summed.touched;
  return await kysely.transaction().execute(async (transaction) => {
    if (flavour.name === "postgres") await takeLock(transaction, touchLock);
    await transaction
      .insertInto("summed_days")
      .values({ day, touched: 0, summed: -1, summed_at: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await counted(transaction))?.touched ?? 0;
  });
}

async function takeLock(transaction: Connection, lock: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(lock)})`.execute(transaction);
}

async function sumGrain({ kysely, flavour }: Database, day: number, grain: DayGrain): Promise<void> {
  const postgres = flavour.name === "postgres";
  await kysely.transaction().execute(async (transaction) => {
    if (postgres) await takeLock(transaction, sumLock);
    await transaction.deleteFrom("usage_days").where("grain", "=", grain.name).where("hour", "=", day).execute();
    // Unfolded sums are in the tail, which is read in addition to the days.
    const rollups = postgres ? sql`only usage_rollups` : sql`usage_rollups`;
    await sql`
      insert into usage_days (${sql.raw(insertedColumns)})
      select ${sql.lit(grain.name)}, ${sql.lit(day)}, ${sql.raw(daySums(grain, postgres))}
      from ${rollups} where hour >= ${sql.lit(day)} and hour < ${sql.lit(day + dayMs)}
      group by ${sql.raw(grain.scope.join(", "))}`.execute(transaction);
    await shortenSketches(transaction, day, grain);
  });
}

const scopeColumns = rollupScope.slice(1) as readonly ScopeColumn[];
const insertedColumns = ["grain", "hour", ...scopeColumns, ...rollupSums, ...rollupSketches].join(", ");

function daySums({ scope }: DayGrain, postgres: boolean): string {
  const joined = postgres ? "string_agg" : "group_concat";
  return [
    ...scopeColumns.map((column) => (scope.includes(column) ? column : "''")),
    ...rollupSums.map((sum) => (postgres ? bounded(`sum(${sum})`) : `sum(${sum})`)),
    ...rollupSketches.map((sketch) => `coalesce(${joined}(${sketch}, ''), '')`),
  ].join(", ");
}

/** Longer sketches are rewritten with each span once. */
const longSketch = 384;

async function shortenSketches(transaction: Connection, day: number, { name, scope }: DayGrain): Promise<void> {
  const rows = await transaction
    .selectFrom("usage_days")
    .select([...scopeColumns, ...rollupSketches])
    .where("grain", "=", name)
    .where("hour", "=", day)
    .where((eb) => eb.or(rollupSketches.map((sketch) => eb(eb.fn<number>("length", [sketch]), ">", longSketch))))
    .execute();
  for (const row of rows) {
    const folded = rollupSketches.map((sketch) => [sketch, foldedSketch(row[sketch])]);
    let update = transaction
      .updateTable("usage_days")
      .set(Object.fromEntries(folded) as Partial<Row<"usage_days">>)
      .where("grain", "=", name)
      .where("hour", "=", day);
    for (const column of scope) update = update.where(column, "=", row[column]);
    await update.execute();
  }
}
