import { type BifrostInput, bifrostTables, fromBifrost, type ImportSources, type Loose } from "#importers/index.ts";
import type { Terminal } from "../terminal.ts";
import type { ImportOptions, ReadImport } from "./import-options.ts";
import { asObject, readSource, shownSource } from "./read-source.ts";
import { withSourceDatabase } from "./source-database.ts";

/** config.json, the database, or both. */
export async function readBifrost(
  { from, database }: ImportOptions,
  terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  const config = from === undefined ? {} : asObject(await readSource(from, terminal), shownSource(from));
  const tables = database === undefined ? noTables : await readTables(database);
  const encryptionKey = terminal.variables["BIFROST_ENCRYPTION_KEY"] ?? keyIn(config, terminal);
  return { draft: fromBifrost({ ...sources, config, tables, encryptionKey }) };
}

const noTables = Object.fromEntries(bifrostTables.map((name) => [name, []])) as unknown as BifrostInput["tables"];

async function readTables(place: string): Promise<BifrostInput["tables"]> {
  return await withSourceDatabase(place, async (database) => {
    const tables: Record<string, unknown> = {};
    for (const name of bifrostTables) tables[name] = await database.rows(name);
    return tables as unknown as BifrostInput["tables"];
  });
}

/** `encryption_key`, which may name a variable. */
function keyIn(config: Loose, { variables }: Terminal): string | null {
  const text = config["encryption_key"];
  if (typeof text !== "string" || text === "") return null;
  return text.startsWith("env.") ? (variables[text.slice("env.".length)] ?? null) : text;
}
