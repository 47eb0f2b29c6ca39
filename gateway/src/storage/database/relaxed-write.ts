import { sql } from "kysely";
import type { Connection, Database } from "./database.ts";

/**
 * A write that a power cut may take back, because nothing is lost with it: a lease, the time of the next poll. It is
 * committed like any other and outlives the process, but is not synced to disk by itself; the next write that is takes
 * it along. Thousands of tasks that are polled would otherwise keep the disk, and with it every call, waiting.
 */
export async function relaxedWrite<Result>(
  database: Database,
  write: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  if (database.flavour.name !== "sqlite") return await write(database.kysely);
  return await database.kysely.connection().execute(async (connection) => {
    await sql`pragma synchronous = normal`.execute(connection);
    try {
      return await write(connection);
    } finally {
      await sql`pragma synchronous = full`.execute(connection);
    }
  });
}
