import { bounds } from "#core/index.ts";
import { closeDatabase, type Database } from "../database/database.ts";
import { migrate, migrations, SchemaTooNew, schemaState } from "../database/migrate.ts";
import { openPostgres } from "../database/postgres/open-postgres.ts";
import { rightsProblem } from "../database/postgres/postgres-problems.ts";
import { postgresSettings } from "../database/postgres/postgres-settings.ts";
import type { Migrations } from "../database/schema-step.ts";
import type { Upgrade } from "./upgrade-database.ts";

/**
 * Brings a database on a server up to this version: all or nothing, in one process at a time. Others may go on with the version
 * before meanwhile. No copy is made first: that is the server's own business (`pg_dump`).
 */
export async function upgradePostgres(
  database: Database,
  url: string,
  known: Migrations = migrations,
  migrationMs: number = bounds.postgresMigrationMs,
): Promise<Upgrade> {
  const { state, unknown } = await schemaState(database, known);
  if (state === "newer") throw new SchemaTooNew(unknown);
  if (state === "current" || state === "ahead") return { ran: [], copy: null };
  // On a connection of its own: a migration, and the wait for another process that migrates, take longer than a statement of a call.
  const patient = await openPostgres({ url, poolSize: 1, statementMs: migrationMs });
  try {
    return { ran: await migrate(patient, known), copy: null };
  } catch (thrown) {
    throw rightsProblem(thrown, postgresSettings(url));
  } finally {
    await closeDatabase(patient);
  }
}
