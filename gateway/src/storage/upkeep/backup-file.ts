import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { closeDatabase } from "../database/database.ts";
import { copyDatabaseTo } from "../database/database-copy.ts";
import { openReadOnly } from "../database/open-database.ts";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { integrityFaults } from "./integrity.ts";

/**
 * A copy of the database in a new file, also of one in use, checked before it is called one. Gives its size in bytes.
 * Throws DataUnusable when there is no database, the file is there already, or the copy is not sound.
 */
export async function backupDatabase(paths: DataPaths, file: string): Promise<number> {
  if (!existsSync(paths.database)) throw new DataUnusable(`There is no database in ${paths.dataDir}.`);
  if (existsSync(file)) throw new DataUnusable(`${file} exists already; name a file that does not.`);
  if (!existsSync(dirname(file)))
    throw new DataUnusable(`There is no folder ${dirname(file)} for ${file}; make it first.`);
  const database = openReadOnly(paths.database);
  let bytes: number;
  try {
    bytes = await copyDatabaseTo(database, file);
  } finally {
    await closeDatabase(database);
  }
  const copy = openReadOnly(file);
  const [fault] = await integrityFaults(copy.kysely, "whole").finally(() => closeDatabase(copy));
  if (fault === undefined) return bytes;
  rmSync(file, { force: true });
  throw new DataUnusable(`The copy is damaged, and so is the database: ${fault}. Nothing was kept.`);
}
