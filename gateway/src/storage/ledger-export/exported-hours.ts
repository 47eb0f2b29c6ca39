import type { ExportedHours } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";

/** Late entries: hours up to the first age are compared every exportCheckMs, older ones every exportCheckOldMs, this many at once. */
export const exportYoungMs = 48 * 3_600_000;
export const exportCheckMs = 3_600_000;
export const exportCheckOldMs = 86_400_000;
const exportChecksMax = 200;

/** Which hours have been copied, by the database. */
export function createExportedHours(database: Database): ExportedHours {
  const { kysely } = database;
  const copiedUntil = async (destination: string, now: number): Promise<number | null> => {
    const { last } = await kysely
      .selectFrom("exported_hours")
      .select((eb) => eb.fn.max<number | null>("hour").as("last"))
      .where("destination", "=", destination)
      .where("hour", "<=", now - hourMs)
      .executeTakeFirstOrThrow();
    return last === null ? null : last + hourMs;
  };
  const firstSince = async (sinceMs: number): Promise<number | null> => {
    const { first } = await kysely
      .selectFrom("ledger_entries")
      .select((eb) => eb.fn.min<number | null>("at").as("first"))
      .where("at", ">=", sinceMs)
      .executeTakeFirstOrThrow();
    return first === null ? null : hourOf(first);
  };
  return {
    copiedUntil,
    async next(destination, sinceMs, now) {
      const until = await copiedUntil(destination, now);
      if (until === null) return await firstSince(sinceMs);
      if (until >= sinceMs) return until;
      // Nobody can say any more that there were no calls in the hours before.
      return Math.min(hourOf(sinceMs), (await firstSince(until)) ?? Number.POSITIVE_INFINITY);
    },
    async toCheck(destination, now, sinceMs) {
      const youngSince = now - exportYoungMs;
      const rows = await kysely
        .selectFrom("exported_hours")
        .select(["hour", "entries"])
        .where("destination", "=", destination)
        .where("hour", ">=", sinceMs)
        .where("hour", "<=", now)
        .where((eb) =>
          eb.or([
            // The clock was ahead then.
            eb("checked_at", ">", now),
            eb("checked_at", "<", now - exportCheckOldMs),
            eb.and([eb("hour", ">=", youngSince), eb("checked_at", "<", now - exportCheckMs)]),
          ]),
        )
        .orderBy("hour", "desc")
        .limit(exportChecksMax)
        .execute();
      return rows;
    },
    async mark(destination, hour, entries, now) {
      await kysely
        .insertInto("exported_hours")
        .values({ destination, hour, entries, checked_at: now })
        .onConflict((conflict) => conflict.columns(["destination", "hour"]).doUpdateSet({ entries, checked_at: now }))
        .execute();
    },
    async checked(destination, hours, now) {
      if (hours.length === 0) return;
      await kysely
        .updateTable("exported_hours")
        .set({ checked_at: now })
        .where("destination", "=", destination)
        .where("hour", "in", [...hours])
        .execute();
    },
  };
}

function hourOf(at: number): number {
  return Math.floor(at / hourMs) * hourMs;
}
