import { fromNewApi, type ImportSources, newApiTables } from "#importers/index.ts";
import { type Terminal, UsageError } from "../terminal.ts";
import type { ImportOptions, ReadImport } from "./import-options.ts";
import { readTables } from "./source-database.ts";

/** Its database: a SQLite file, PostgreSQL or MySQL. */
export async function readNewApi(
  { from, database = from }: ImportOptions,
  _terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  if (database === undefined) throw new UsageError("name its database with --database");
  return { draft: fromNewApi({ ...sources, tables: await readTables(database, newApiTables) }) };
}
