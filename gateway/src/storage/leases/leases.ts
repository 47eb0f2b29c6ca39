import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Lease, LeaseHolder, Leases, SharedFacts } from "#ports/index.ts";
import { type Connection, type Database, databaseNow, relaxedWrite } from "../database/database.ts";
import { writtenOnce } from "../database/written-once.ts";

/** What was to be written under a lease was not: it is not held any more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";

  constructor(name: string) {
    super(`The lease ${name} was lost; what was to be done under it is left to whoever has it now.`);
  }
}

/** Leases as rows. A power cut may take a taking or a renewal back; nothing is lost with it but the lease. */
export function createLeases(database: Database): Leases {
  const now = databaseNow(database);
  const until = (leaseMs: number) => sql<number>`${now} + ${leaseMs}`;
  const renewal = writtenOnce((place: (name: keyof Lease | "leaseMs") => never) =>
    database.kysely
      .updateTable("leases")
      .set({ until: until(place("leaseMs")) })
      .where(isHeld({ name: place("name"), owner: place("owner"), fence: place("fence") }, now)),
  );
  const extension = writtenOnce((place: (name: "name" | "owner" | "leaseMs") => never) =>
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
    async take(name, owner, leaseMs) {
      // Most who ask do not get it: they read, and neither write nor lock.
      const current = await readHolders(database, now, name);
      if (current.some((holder) => holder.owner !== owner)) return null;
      const row = await relaxedWrite(database, (connection) => taking(connection, { name, owner, leaseMs, now }));
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
    holder: async (name) => (await readHolders(database, now, name))[0] ?? null,
    held: async () => await readHolders(database, now),
  };
}

/**
 * Within a transaction, before what it writes: that the lease is held, and stays so until the transaction ends. Throws LeaseLost.
 * On PostgreSQL renewing waits for that end too, so such transactions are short.
 */
export async function assertLease(database: Database, transaction: Connection, lease: Lease): Promise<void> {
  const query = transaction
    .selectFrom("leases")
    .select("fence")
    .where(isHeld(lease, databaseNow(database)));
  const row = await (database.flavour.name === "postgres" ? query.forShare() : query).executeTakeFirst();
  if (row === undefined) throw new LeaseLost(lease.name);
}

interface Taking {
  readonly name: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly now: RawBuilder<number>;
}

async function taking(
  connection: Connection,
  { name, owner, leaseMs, now }: Taking,
): Promise<{ readonly fence: number } | undefined> {
  const until = sql<number>`${now} + ${leaseMs}`;
  return await connection
    .insertInto("leases")
    .values({ name, owner, fence: 1, taken_at: now, until })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({ owner, fence: sql<number>`leases.fence + 1`, taken_at: now, until })
        .where(sql<SqlBool>`leases.owner is null or leases.owner = ${owner} or leases.until <= ${now}`),
    )
    .returning("fence")
    .executeTakeFirst();
}

function isHeld({ name, owner, fence }: Lease, now: RawBuilder<number>): RawBuilder<SqlBool> {
  return sql<SqlBool>`name = ${name} and owner = ${owner} and fence = ${fence} and until > ${now}`;
}

async function readHolders(
  database: Database,
  now: RawBuilder<number>,
  name?: string,
): Promise<readonly LeaseHolder[]> {
  let query = database.reading
    .selectFrom("leases")
    .select(["name", "owner", "fence", "taken_at", "until", now.as("now")])
    .where(sql<SqlBool>`owner is not null and until > ${now}`)
    .orderBy("name");
  if (name !== undefined) query = query.where("name", "=", name);
  return (await query.execute()).map((row) => ({
    name: row.name,
    owner: row.owner ?? "",
    fence: row.fence,
    takenAt: row.taken_at,
    until: row.until,
    leftMs: row.until - row.now,
  }));
}

/** As settings of the system: neither the config file nor the console shows or changes them. */
export function createSharedFacts({ kysely }: Database): SharedFacts {
  return {
    async read(name) {
      const row = await kysely
        .selectFrom("settings")
        .select("value")
        .where("name", "=", name)
        .where("managed_by", "=", "system")
        .executeTakeFirst();
      return row?.value ?? null;
    },
    async write(name, value) {
      await kysely
        .insertInto("settings")
        .values({ name, value, managed_by: "system" })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value, managed_by: "system" }))
        .execute();
    },
  };
}
