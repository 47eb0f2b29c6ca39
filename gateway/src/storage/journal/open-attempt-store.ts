import { type SqlBool, sql } from "kysely";
import { bounds, type Checkpoint, type Intent } from "#core/index.ts";
import type { AbandonedJournal, JournalLeftovers, JournalRecord } from "#ports/index.ts";
import { type Database, databaseNow } from "../database/database.ts";
import { decodeCheckpoint, decodeIntent, encodeCheckpoint, encodeIntent } from "./journal-record.ts";

/**
 * A process counts as lost if it was silent for remoteLostMs, and is still silent remoteSureMs after this was first noticed. The second
 * wait lets processes report again after an outage of the database.
 */
export const remoteLostMs = 600_000;
const remoteSureMs = 30_000;

export type OpenAttemptStore = ReturnType<typeof createOpenAttemptStore>;

/**
 * Copies of open attempts in PostgreSQL (`ledger.durability: remote`), for recovery if a process is lost together with its disk. A row is
 * inserted before its attempt is sent and deleted when its entry is stored. Rows contain journal records. `sureMs`: see remoteLostMs.
 */
export function createOpenAttemptStore(
  database: Database,
  { sureMs = remoteSureMs }: { readonly sureMs?: number } = {},
) {
  const { kysely } = database;
  /** Silent processes, with the time since which they were found silent. */
  let silent: ReadonlyMap<string, number> = new Map();
  const now = databaseNow(database);
  const store = {
    /** Resolves when committed. Inserting the same rows again changes nothing. */
    async open(owner: string, intents: readonly Intent[]): Promise<void> {
      const ids = intents.map(({ attemptId }) => attemptId);
      const records = intents.map(encodeIntent);
      // Always the same statement, so it is planned once per connection.
      await sql`
        insert into open_attempts (attempt_id, owner, updated_at, intent)
        select id, ${owner}, ${now}, record from unnest(${ids}::text[], ${records}::text[]) as given (id, record)
        on conflict do nothing`.execute(kysely);
    },
    /** Updates the checkpoint of existing rows. */
    async checkpoint(checkpoints: readonly Checkpoint[]): Promise<void> {
      const ids = checkpoints.map(({ attemptId }) => attemptId);
      const records = checkpoints.map(encodeCheckpoint);
      // It is also a sign of life.
      await sql`
        update open_attempts set checkpoint = record, updated_at = ${now}
        from unnest(${ids}::text[], ${records}::text[]) as given (id, record) where attempt_id = id`.execute(kysely);
    },
    remove: (attemptIds: readonly string[]): Promise<void> => removeOpenAttempts(database, attemptIds),
    /** Call it when a process ends and all its entries are stored. */
    async removeOf(owner: string): Promise<void> {
      await kysely.deleteFrom("open_attempts").where("owner", "=", owner).execute();
    },
    /**
     * The records of a dead process here and in its journal on this disk. Those of the journal come last, because they are newer.
     * `discard` removes both.
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
          // The journal names its owner until both are done, so that another process can continue.
          await leftovers.discard();
          await store.removeOf(owner);
        },
      };
    },
    /**
     * Records of processes that count as lost: no sign of life for remoteLostMs, no new attempt and no checkpoint.
     */
    async *abandoned(): AsyncGenerator<AbandonedJournal, void, undefined> {
      const before = silent;
      // If the query fails, nothing is learned about any process.
      silent = new Map();
      const owners = await kysely
        .selectFrom("open_attempts")
        .leftJoin("instances", "instances.id", "open_attempts.owner")
        .select(["open_attempts.owner", now.as("now")])
        .groupBy("open_attempts.owner")
        .having(
          sql<SqlBool>`coalesce(max(instances.seen_at), 0) < ${now} - ${remoteLostMs}::bigint
            and max(open_attempts.updated_at) < ${now} - ${remoteLostMs}::bigint`,
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

/** Call it when their entries are stored. */
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
