import type { Connection, Database } from "../database/database.ts";
import { dayGrains, dayMs } from "./ledger-grains.ts";
import { insertCounters, sumGrain } from "./ledger-sums.ts";

/** How long after its end a day is summed, and a changed day is summed again. */
export const summedDayLagMs = 7_200_000;
export const summedAgainMs = 600_000;
/** Days without calls are summed, too, in gaps up to this length. */
const summedGapMs = 31 * 86_400_000;

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
  for (const grain of dayGrains) await sumGrain(database, "usage_days", { from: day, to: day + dayMs }, grain);
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
async function changeCountOf(database: Database, day: number): Promise<number> {
  const counted = async (connection: Connection) =>
    await connection.selectFrom("summed_days").select("touched").where("day", "=", day).executeTakeFirst();
  const summed = await counted(database.kysely);
  if (summed !== undefined) return summed.touched;
  return await insertCounters(database, async (transaction) => {
    await transaction
      .insertInto("summed_days")
      .values({ day, touched: 0, summed: -1, summed_at: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await counted(transaction))?.touched ?? 0;
  });
}
