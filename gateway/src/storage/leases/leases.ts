import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from "kysely";
import { bounds, membersOf } from "#core/index.ts";
import type { Instance, InstanceStatus, Lease, LeaseStatus, Leases } from "#ports/index.ts";
import { compiledOnce } from "../database/compiled-once.ts";
import { type Database, databaseNow, relaxedWrite } from "../database/database.ts";
import { putSystemValue, systemValue } from "../database/system-values.ts";

/** A power cut may undo an acquisition or renewal, which only loses the lease. */
export function createLeases(database: Database): Leases {
  const now = databaseNow(database);
  const until = (leaseMs: number) => sql<number>`${now} + ${leaseMs}`;
  const renewal = compiledOnce((place: (name: keyof Lease | "leaseMs") => never) =>
    database.kysely
      .updateTable("leases")
      .set({ until: until(place("leaseMs")) })
      .where(isHeld({ name: place("name"), owner: place("owner"), fence: place("fence") }, now)),
  );
  const extension = compiledOnce((place: (name: "name" | "owner" | "leaseMs") => never) =>
    database.kysely
      .updateTable("leases")
      .set({ until: until(place("leaseMs")) })
      .where("name", "=", place("name"))
      .where("owner", "=", place("owner"))
      .where(sql<SqlBool>`until > ${now}`),
  );
  const isWritten = async (query: CompiledQuery): Promise<boolean> => {
    const { numAffectedRows = 0n } = await relaxedWrite(database, (connection) => connection.executeQuery(query));
    return numAffectedRows > 0n;
  };
  return {
    async acquire(name, owner, leaseMs) {
      // Most callers do not get the lease, so read first, without locks.
      const current = await readStatuses(database, now, name);
      if (current.some((holder) => holder.owner !== owner)) return null;
      const given = { owner, taken_at: now, until: until(leaseMs) };
      const row = await relaxedWrite(database, (connection) =>
        connection
          .insertInto("leases")
          .values({ name, fence: 1, ...given })
          .onConflict((conflict) =>
            conflict
              .column("name")
              .doUpdateSet({ fence: sql<number>`leases.fence + 1`, ...given })
              .where(sql<SqlBool>`leases.owner is null or leases.owner = ${owner} or leases.until <= ${now}`),
          )
          .returning("fence")
          .executeTakeFirst(),
      );
      return row === undefined ? null : { name, owner, fence: row.fence };
    },
    renew: ({ name, owner, fence }, leaseMs) => isWritten(renewal({ name, owner, fence, leaseMs })),
    extend: (name, owner, leaseMs) => isWritten(extension({ name, owner, leaseMs })),
    async release(lease) {
      await relaxedWrite(database, (connection) =>
        connection
          .updateTable("leases")
          .set({ owner: null, until: sql<number>`${now}` })
          .where(isHeld(lease, now))
          .execute(),
      );
    },
    status: async (name) => (await readStatuses(database, now, name))[0] ?? null,
    list: async () => await readStatuses(database, now),
  };
}

function isHeld({ name, owner, fence }: Lease, now: RawBuilder<number>): RawBuilder<SqlBool> {
  return sql<SqlBool>`name = ${name} and owner = ${owner} and fence = ${fence} and until > ${now}`;
}

async function readStatuses(
  database: Database,
  now: RawBuilder<number>,
  name?: string,
): Promise<readonly LeaseStatus[]> {
  let query = database.reading
    .selectFrom("leases")
    .select(["name", "owner", "fence", "taken_at", "until", now.as("now")])
    .where(sql<SqlBool>`owner is not null and until > ${now}`)
    .orderBy("name");
  if (name !== undefined) query = query.where("name", "=", name);
  return (await query.execute()).map(({ now: askedAt, ...row }) => ({
    ...membersOf(row),
    owner: row.owner ?? "",
    leftMs: row.until - askedAt,
  }));
}

export type SharedFacts = ReturnType<typeof createSharedFacts>;

/** Small values shared by the processes of an installation, stored as system settings. */
export function createSharedFacts({ kysely }: Database) {
  return {
    read: (name: string): Promise<string | null> => systemValue(kysely, name),
    write: (name: string, value: string): Promise<void> => putSystemValue(kysely, name, value),
  };
}

/** A process that is silent for this long counts as dead; its row is deleted later. */
export const instanceAliveMs = 20_000;
export const instanceKeptMs = 24 * 3_600_000;
/** One in this many heartbeats deletes old rows. */
const instanceCleanupTells = 60;

export type Instances = ReturnType<typeof createInstances>;

/** The processes of the installation. */
export function createInstances(database: Database) {
  const now = databaseNow(database);
  let heartbeats = 0;
  const heartbeat = compiledOnce((place: (name: "id" | "version" | "host" | "lag") => never) =>
    database.kysely
      .insertInto("instances")
      .values({
        ...{ id: place("id"), version: place("version"), host: place("host"), journal_lag: place("lag") },
        ...{ started_at: now, seen_at: now },
      })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: now, journal_lag: place("lag") })),
  );
  return {
    /** Heartbeat: at the start and each bounds.heartbeatMs. Old rows are deleted now and then. */
    async report({ id, version, host }: Instance, journalLag?: number): Promise<void> {
      // Rows are kept for a day, so there is no need to clean up every few seconds.
      const tidies = heartbeats++ % instanceCleanupTells === 0;
      await relaxedWrite(database, async (connection) => {
        await connection.executeQuery(heartbeat({ id, version, host, lag: journalLag ?? null }));
        if (!tidies) return;
        await connection
          .deleteFrom("instances")
          .where("seen_at", "<", sql<number>`${now} - ${instanceKeptMs}`)
          .execute();
        // Leases of single answers, which are never acquired again.
        await connection
          .deleteFrom("leases")
          .where("name", "like", "bill %")
          .where("until", "<", sql<number>`${now} - ${instanceKeptMs}`)
          .execute();
      });
    },
    /** At an orderly shutdown. */
    async leave(id: string): Promise<void> {
      await relaxedWrite(database, (connection) => connection.deleteFrom("instances").where("id", "=", id).execute());
    },
    /** Oldest first. */
    list: () => readInstances(database, now),
    /** Seen within instanceAliveMs. */
    isAlive: async (id: string): Promise<boolean> =>
      (await readInstances(database, now, id)).some((instance) => instance.isAlive),
  };
}

async function readInstances(
  database: Database,
  now: RawBuilder<number>,
  id?: string,
): Promise<readonly InstanceStatus[]> {
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
