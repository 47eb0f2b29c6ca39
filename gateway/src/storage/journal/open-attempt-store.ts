import { type SqlBool, sql } from "kysely";
import { bounds, type Checkpoint, type Intent } from "#core/index.ts";
import type { AbandonedJournal, JournalLeftovers, JournalRecord } from "#ports/index.ts";
import { type Database, databaseNow } from "../database/database.ts";
import { decodeCheckpoint, decodeIntent, encodeCheckpoint, encodeIntent } from "./journal-record.ts";

/** A process that was silent for this long has lost its disk, if it is found silent for remoteSureMs: after an outage of the database its processes report again first. */
export const remoteLostMs = 600_000;
const remoteSureMs = 30_000;

export type OpenAttemptStore = ReturnType<typeof createOpenAttemptStore>;

/**
 * Attempts under way in the database, beside the journals of the processes that make them (`ledger.durability: remote`): what is
 * known of them when a process and its disk are lost. An attempt is there before it is sent, and goes when its entry is stored. On
 * PostgreSQL alone: beside a file of SQLite there is no other disk. Rows hold what the journal's records hold. `sureMs`: for so
 * long a process has to be found silent before it is taken for lost.
 */
export function createOpenAttemptStore(
  database: Database,
  { sureMs = remoteSureMs }: { readonly sureMs?: number } = {},
) {
  const { kysely } = database;
  /** Silent processes, and since when they were found to be so. */
  let silent: ReadonlyMap<string, number> = new Map();
  const now = databaseNow(database);
  const store = {
    /** Committed when it resolves. The same again changes nothing. */
    async open(owner: string, intents: readonly Intent[]): Promise<void> {
      const ids = intents.map(({ attemptId }) => attemptId);
      const records = intents.map(encodeIntent);
      // One statement of one shape, however many there are: it is planned once for each connection.
      await sql`
        insert into open_attempts (attempt_id, owner, heard_at, intent)
        select id, ${owner}, ${now}, record from unnest(${ids}::text[], ${records}::text[]) as given (id, record)
        on conflict do nothing`.execute(kysely);
    },
    /** The latest of each attempt that is there. */
    async checkpoint(checkpoints: readonly Checkpoint[]): Promise<void> {
      const ids = checkpoints.map(({ attemptId }) => attemptId);
      const records = checkpoints.map(encodeCheckpoint);
      // It also says that its process lives.
      await sql`
        update open_attempts set checkpoint = record, heard_at = ${now}
        from unnest(${ids}::text[], ${records}::text[]) as given (id, record) where attempt_id = id`.execute(kysely);
    },
    remove: (attemptIds: readonly string[]): Promise<void> => removeOpenAttempts(database, attemptIds),
    /** At the orderly end of a process: everything of it is stored. */
    async removeOf(owner: string): Promise<void> {
      await kysely.deleteFrom("open_attempts").where("owner", "=", owner).execute();
    },
    /**
     * What a process that is known to be dead left here and in the journal that lies on this disk: the first of both, so that
     * what the journal knows better counts. Discarding removes both.
     */
    joinedTo(leftovers: JournalLeftovers, owner: string | null): JournalLeftovers {
      if (owner === null) return leftovers;
      return {
        get damage() {
          return leftovers.damage;
        },
        async *records() {
          yield* recordsOf(database, owner);
          yield* leftovers.records();
        },
        async discard() {
          // The journal's owner stands in its directory until all of this is done: whoever comes next goes on from there.
          await leftovers.discard();
          await store.removeOf(owner);
        },
      };
    },
    /**
     * What processes left that were not seen for remoteLostMs, and neither began anything nor told how far it is: their disks
     * are taken for lost.
     */
    async *abandoned(): AsyncGenerator<AbandonedJournal, void, undefined> {
      const before = silent;
      // A look that fails says that nobody could be heard.
      silent = new Map();
      const owners = await kysely
        .selectFrom("open_attempts")
        .leftJoin("instances", "instances.id", "open_attempts.owner")
        .select(["open_attempts.owner", now.as("now")])
        .groupBy("open_attempts.owner")
        .having(
          sql<SqlBool>`coalesce(max(instances.seen_at), 0) < ${now} - ${remoteLostMs}::bigint
            and max(open_attempts.heard_at) < ${now} - ${remoteLostMs}::bigint`,
        )
        .orderBy("open_attempts.owner")
        .limit(bounds.journalSlotsMax)
        .execute();
      silent = new Map(owners.map((found) => [found.owner, before.get(found.owner) ?? found.now]));
      for (const { owner, now: askedAt } of owners) {
        if (askedAt - (silent.get(owner) ?? askedAt) < sureMs) continue;
        const records = () => recordsOf(database, owner);
        const leftovers: JournalLeftovers = { damage: [], records, discard: async () => undefined };
        yield { place: `database: ${owner}`, owner, leftovers, clear: () => store.removeOf(owner) };
      }
    },
  };
  return store;
}

/** For whoever has stored their entries. */
export async function removeOpenAttempts({ kysely }: Database, attemptIds: readonly string[]): Promise<void> {
  await sql`delete from open_attempts where attempt_id = any(${attemptIds}::text[])`.execute(kysely);
}

/** In pages: a process may have had thousands of attempts under way. */
async function* recordsOf({ kysely }: Database, owner: string): AsyncGenerator<JournalRecord, void, undefined> {
  for (let after = ""; ; ) {
    const rows = await kysely
      .selectFrom("open_attempts")
      .select(["attempt_id", "intent", "checkpoint"])
      .where("owner", "=", owner)
      .where("attempt_id", ">", after)
      .orderBy("attempt_id")
      .limit(bounds.remoteBatchMax)
      .execute();
    for (const { intent, checkpoint } of rows) {
      yield { type: "intent", value: decodeIntent(intent) };
      if (checkpoint !== null) yield { type: "checkpoint", value: decodeCheckpoint(checkpoint) };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < bounds.remoteBatchMax) return;
    after = last.attempt_id;
  }
}
