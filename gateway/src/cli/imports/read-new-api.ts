import { fromNewApi, type ImportSources, type NewApiInput, newApiTables } from "#importers/index.ts";
import { type Terminal, UsageError } from "../terminal.ts";
import type { ImportOptions, ReadImport } from "./import-options.ts";
import { withSourceDatabase } from "./source-database.ts";

/** Its database: a SQLite file, PostgreSQL or MySQL. */
export async function readNewApi(
  { from, database = from }: ImportOptions,
  _terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  if (database === undefined) throw new UsageError("name its database with --database");
  const tables = await withSourceDatabase(database, async (opened) => {
    const read: Record<string, unknown> = {};
    for (const name of newApiTables) read[name] = await opened.rows(name);
    return read as unknown as NewApiInput["tables"];
  });
  return { draft: fromNewApi({ ...sources, tables }) };
}
