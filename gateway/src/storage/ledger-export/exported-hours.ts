import type { Database } from "../database/database.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";

/** Late entries: hours younger than exportYoungMs are checked every exportCheckMs, older ones every exportCheckOldMs. */
export const exportYoungMs = 48 * 3_600_000;
export const exportCheckMs = 3_600_000;
export const exportCheckOldMs = 86_400_000;
const exportChecksMax = 200;

export type ExportedHours = ReturnType<typeof createExportedHours>;

export interface ExportedHour {
  readonly hour: number;
  readonly entries: number;
}

/** Hours of the ledger that were exported to a bucket, identified by their start in Unix milliseconds. */
export function createExportedHours(database: Database) {
  const { kysely } = database;
  /** End of the last exported hour; null: none. Hours in the future, exported while the clock was ahead, do not count. */
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
    /**
     * The next hour to export: the one after the last exported hour, or the hour of the first entry since `sinceMs` if there is none;
     * null: nothing to export. Entries before `sinceMs` are being deleted, so empty hours there are skipped.
     */
    async next(destination: string, sinceMs: number, now: number): Promise<number | null> {
      const until = await copiedUntil(destination, now);
      if (until === null) return await firstSince(sinceMs);
      if (until >= sinceMs) return until;
      // Whether earlier hours had calls is no longer known.
      return Math.min(hourOf(sinceMs), (await firstSince(until)) ?? Number.POSITIVE_INFINITY);
    },
    /** The last exported hour; null: none. */
    async last(destination: string): Promise<number | null> {
      const { last } = await kysely
        .selectFrom("exported_hours")
        .select((eb) => eb.fn.max<number | null>("hour").as("last"))
        .where("destination", "=", destination)
        .executeTakeFirstOrThrow();
      return last;
    },
    /** Hours since `sinceMs` that are due for a check, with their number of exported entries. */
    async toCheck(destination: string, now: number, sinceMs: number): Promise<readonly ExportedHour[]> {
      const youngSince = now - exportYoungMs;
      return await kysely
        .selectFrom("exported_hours")
        .select(["hour", "entries"])
        .where("destination", "=", destination)
        .where("hour", ">=", sinceMs)
        .where("hour", "<=", now)
        .where((eb) =>
          eb.or([
            // Checked while the clock was ahead.
            eb("checked_at", ">", now),
            eb("checked_at", "<", now - exportCheckOldMs),
            eb.and([eb("hour", ">=", youngSince), eb("checked_at", "<", now - exportCheckMs)]),
          ]),
        )
        .orderBy("hour", "desc")
        .limit(exportChecksMax)
        .execute();
    },
    /** Records an exported hour. */
    async mark(destination: string, hour: number, entries: number, now: number): Promise<void> {
      await kysely
        .insertInto("exported_hours")
        .values({ destination, hour, entries, checked_at: now })
        .onConflict((conflict) => conflict.columns(["destination", "hour"]).doUpdateSet({ entries, checked_at: now }))
        .execute();
    },
    /** Records that the exports of these hours are complete. */
    async checked(destination: string, hours: readonly number[], now: number): Promise<void> {
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
