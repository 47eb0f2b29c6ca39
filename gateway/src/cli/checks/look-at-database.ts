import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "#config/index.ts";
import { placeOf } from "#main.ts";
import { closeDatabase, type Database, openDatabase, openPlace, schemaState } from "#storage/index.ts";

/** Reads from the database without a migration; null where there is none yet. */
export async function lookAtDatabase<T>(
  environment: Environment,
  read: (database: Database) => Promise<T>,
): Promise<T | null> {
  const path = join(environment.dataDir, "sluice.db");
  const isFile = environment.databaseUrl === null;
  if (isFile && !existsSync(path)) return null;
  const database = isFile
    ? openDatabase({ path, create: false })
    : await openPlace(placeOf(environment), { isChecked: true, poolSize: 1 });
  try {
    return (await schemaState(database)).state === "empty" ? null : await read(database);
  } finally {
    await closeDatabase(database);
  }
}
