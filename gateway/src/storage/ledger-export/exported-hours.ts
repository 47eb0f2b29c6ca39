import { bounds } from "#core/index.ts";
import type { ExportedHours } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";

/** Which hours have been copied, by the database. */
export function createExportedHours(database: Database): ExportedHours {
  const { kysely } = database;
  const copiedUntil = async (destination: string): Promise<number | null> => {
    const { last } = await kysely
      .selectFrom("exported_hours")
      .select((eb) => eb.fn.max<number | null>("hour").as("last"))
      .where("destination", "=", destination)
      .executeTakeFirstOrThrow();
    return last === null ? null : last + hourMs;
  };
  return {
    copiedUntil,
    async next(destination, sinceMs) {
      const until = await copiedUntil(destination);
      if (until !== null) return until;
      const { first } = await kysely
        .selectFrom("ledger_entries")
        .select((eb) => eb.fn.min<number | null>("at").as("first"))
        .where("at", ">=", sinceMs)
        .executeTakeFirstOrThrow();
      return first === null ? null : Math.floor(first / hourMs) * hourMs;
    },
    async toCheck(destination, now, sinceMs) {
      const youngSince = now - bounds.exportYoungMs;
      const rows = await kysely
        .selectFrom("exported_hours")
        .select(["hour", "entries"])
        .where("destination", "=", destination)
        .where("hour", ">=", sinceMs)
        .where((eb) =>
          eb.or([
            eb("checked_at", "<", now - bounds.exportCheckOldMs),
            eb.and([eb("hour", ">=", youngSince), eb("checked_at", "<", now - bounds.exportCheckMs)]),
          ]),
        )
        .orderBy("hour", "desc")
        .limit(bounds.exportChecksMax)
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
