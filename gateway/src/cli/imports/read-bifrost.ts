import { bifrostTables, fromBifrost, type ImportSources, type Loose } from "#importers/index.ts";
import type { Terminal } from "../terminal.ts";
import type { ImportOptions, ReadImport } from "./import-options.ts";
import { readObject } from "./read-source.ts";
import { readTables } from "./source-database.ts";

/** config.json, the database, or both. */
export async function readBifrost(
  { from, database }: ImportOptions,
  terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  const config = from === undefined ? {} : await readObject(from, terminal);
  const tables = await readTables(database, bifrostTables);
  const encryptionKey = terminal.variables["BIFROST_ENCRYPTION_KEY"] ?? keyIn(config, terminal);
  return { draft: fromBifrost({ ...sources, config, tables, encryptionKey }) };
}

/** `encryption_key`, which may name a variable. */
function keyIn(config: Loose, { variables }: Terminal): string | null {
  const text = config["encryption_key"];
  if (typeof text !== "string" || text === "") return null;
  return text.startsWith("env.") ? (variables[text.slice("env.".length)] ?? null) : text;
}
