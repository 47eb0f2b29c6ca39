import { type RawBuilder, sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Instance, SeenInstance } from "#ports/index.ts";
import { membersOf } from "../database/columns.ts";
import { type Database, databaseNow, relaxedWrite } from "../database/database.ts";
import { writtenOnce } from "../database/written-once.ts";

/** A process that is silent for this long is dead; its row is deleted later. */
export const instanceAliveMs = 20_000;
export const instanceKeptMs = 24 * 3_600_000;
/** One in this many reports deletes old rows. */
const instanceTidyTells = 60;

export type Instances = ReturnType<typeof createInstances>;

/** The processes of the installation, as the database has seen them. */
export function createInstances(database: Database) {
  const now = databaseNow(database);
  let told = 0;
  const telling = writtenOnce((place: (name: "id" | "version" | "host" | "lag") => never) =>
    database.kysely
      .insertInto("instances")
      .values({
        ...{ id: place("id"), version: place("version"), host: place("host"), journal_lag: place("lag") },
        ...{ started_at: now, seen_at: now },
      })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: now, journal_lag: place("lag") })),
  );
  return {
    /** Tells that this process is here: at its start, and each bounds.instanceTellMs. Those not seen for a day are forgotten. */
    async tell({ id, version, host }: Instance, journalLag?: number): Promise<void> {
      // What is kept for a day need not be looked through every few seconds.
      const tidies = told++ % instanceTidyTells === 0;
      await relaxedWrite(database, async (connection) => {
        await connection.executeQuery(telling({ id, version, host, lag: journalLag ?? null }));
        if (!tidies) return;
        await connection
          .deleteFrom("instances")
          .where("seen_at", "<", sql<number>`${now} - ${instanceKeptMs}`)
          .execute();
        // Leases of one answer each; no fence of theirs is ever looked at again.
        await connection
          .deleteFrom("leases")
          .where("name", "like", "bill %")
          .where("until", "<", sql<number>`${now} - ${instanceKeptMs}`)
          .execute();
      });
    },
    /** At its orderly end. */
    async leave(id: string): Promise<void> {
      await relaxedWrite(database, (connection) => connection.deleteFrom("instances").where("id", "=", id).execute());
    },
    /** In the order of their starts. */
    list: () => readInstances(database, now),
    /** Whether that process was seen within instanceAliveMs. */
    isAlive: async (id: string): Promise<boolean> =>
      (await readInstances(database, now, id)).some((instance) => instance.isAlive),
  };
}

async function readInstances(
  database: Database,
  now: RawBuilder<number>,
  id?: string,
): Promise<readonly SeenInstance[]> {
  let query = database.reading
    .selectFrom("instances")
    .select(["id", "version", "host", "started_at", "seen_at", "journal_lag", now.as("now")])
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(bounds.instancesMax);
  if (id !== undefined) query = query.where("id", "=", id);
  const rows = await query.execute();
  return rows.toReversed().map(({ now: askedAt, ...row }) => ({
    ...membersOf(row),
    isAlive: askedAt - row.seen_at < instanceAliveMs,
  }));
}
