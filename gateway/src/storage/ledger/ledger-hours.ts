import type { Connection, Database } from "../database/database.ts";
import type { Row } from "../database/schema.ts";
import { summedAgainMs } from "./ledger-days.ts";
import { dayMs, hourGrains, type TimeSpan } from "./ledger-grains.ts";
import { hourMs } from "./ledger-rollup.ts";
import { insertCounters, sumGrain } from "./ledger-sums.ts";

/** How long after its end an hour is summed. */
const summedHourLagMs = 600_000;
/** Sums of hours are kept for two months, because reports compare a month with the one before. */
const hourSumsMs = 63 * dayMs;

/**
 * Sums, by every grain, the newest hours of one day that are over and not summed; if there are none, the newest that have changed. Resolves
 * to their number. Removes sums of old hours. As with days, sums of an hour that changes meanwhile are not used.
 */
export async function sumHours(database: Database, now: number): Promise<number> {
  const { kysely } = database;
  await forgetHours(database, now - hourSumsMs);
  const hours = await nextHours(kysely, now);
  if (hours === null) return 0;
  const counts = await changeCountsOf(database, hours);
  for (const grain of hourGrains) await sumGrain(database, "usage_hours", hours, grain);
  await kysely.transaction().execute(async (transaction) => {
    for (const { hour, touched } of counts) {
      const set = { summed: touched, summed_at: now };
      await transaction.updateTable("summed_hours").set(set).where("hour", "=", hour).execute();
    }
  });
  return counts.length;
}

async function nextHours(connection: Connection, now: number): Promise<TimeSpan | null> {
  const over = hourOf(now - summedHourLagMs);
  const { first, last } = await connection
    .selectFrom("usage_rollups")
    .select((eb) => [eb.fn.min<number | null>("hour").as("first"), eb.fn.max<number | null>("hour").as("last")])
    .where("hour", ">=", hourOf(now - hourSumsMs))
    .where("hour", "<", over)
    .executeTakeFirstOrThrow();
  if (first === null || last === null) return null;
  const summed = await connection
    .selectFrom("summed_hours")
    .select(["hour", "touched", "summed", "summed_at"])
    .where("hour", ">=", first)
    .where("hour", "<=", last)
    .orderBy("hour", "desc")
    .execute();
  const there = new Set(summed.map(({ hour }) => hour));
  const changed = new Set(summed.flatMap((each) => (isChanged(each, now) ? [each.hour] : [])));
  return (
    newestRun({ first, last }, (hour) => !there.has(hour)) ?? newestRun({ first, last }, (hour) => changed.has(hour))
  );
}

function isChanged({ touched, summed, summed_at }: Row<"summed_hours">, now: number): boolean {
  return touched !== summed && (summed_at <= now - summedAgainMs || summed_at > now);
}

/** The newest hours of one day without a gap. */
function newestRun(
  { first, last }: { readonly first: number; readonly last: number },
  isDue: (hour: number) => boolean,
): TimeSpan | null {
  for (let hour = last; hour >= first; hour -= hourMs) {
    if (!isDue(hour)) continue;
    let from = hour;
    while (from > first && from % dayMs !== 0 && isDue(from - hourMs)) from -= hourMs;
    return { from, to: hour + hourMs };
  }
  return null;
}

function hourOf(at: number): number {
  return at - (at % hourMs);
}

/** The change counters of hours. From here on, changes are counted. */
async function changeCountsOf(database: Database, { from, to }: TimeSpan) {
  return await insertCounters(database, async (transaction) => {
    const hours = Array.from({ length: (to - from) / hourMs }, (_, n) => from + n * hourMs);
    await transaction
      .insertInto("summed_hours")
      .values(hours.map((hour) => ({ hour, touched: 0, summed: -1, summed_at: 0 })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const counted = transaction.selectFrom("summed_hours").select(["hour", "touched"]);
    return await counted.where("hour", ">=", from).where("hour", "<", to).execute();
  });
}

/** Counters first: sums without a counter are not used. */
async function forgetHours(database: Database, beforeMs: number): Promise<void> {
  const { kysely } = database;
  const forgotten = await kysely.deleteFrom("summed_hours").where("hour", "<", beforeMs).executeTakeFirst();
  if (forgotten.numDeletedRows === 0n) return;
  for (const { name } of hourGrains) {
    await kysely.deleteFrom("usage_hours").where("grain", "=", name).where("hour", "<", beforeMs).execute();
  }
}
