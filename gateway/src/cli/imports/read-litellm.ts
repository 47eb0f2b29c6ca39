import { fromLiteLlm, type ImportSources, type LiteLlmTables, liteLlmTables } from "#importers/index.ts";
import type { Terminal } from "../terminal.ts";
import type { ImportOptions, ReadImport } from "./import-options.ts";
import { asObject, readSource, shownSource } from "./read-source.ts";
import { withSourceDatabase } from "./source-database.ts";

/** config.yaml, the database, or both. */
export async function readLiteLlm(
  { from, database }: ImportOptions,
  terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  const config = from === undefined ? {} : asObject(await readSource(from, terminal), shownSource(from));
  const tables = database === undefined ? noTables : await readTables(database);
  const { LITELLM_SALT_KEY, LITELLM_MASTER_KEY } = terminal.variables;
  return fromLiteLlm({
    ...sources,
    config,
    tables,
    saltKey: LITELLM_SALT_KEY ?? LITELLM_MASTER_KEY ?? masterKeyIn(config, terminal),
  });
}

const noTables = Object.fromEntries(liteLlmTables.map((name) => [name, []])) as unknown as LiteLlmTables;

async function readTables(place: string): Promise<LiteLlmTables> {
  return await withSourceDatabase(place, async (database) => {
    const tables: Record<string, unknown> = {};
    for (const name of liteLlmTables) tables[name] = await database.rows(`LiteLLM_${name}`);
    return tables as unknown as LiteLlmTables;
  });
}

/** `general_settings.master_key`, which may name a variable. */
function masterKeyIn(config: Readonly<Record<string, unknown>>, { variables }: Terminal): string | null {
  const general = config["general_settings"] as Readonly<Record<string, unknown>> | null | undefined;
  const text = general?.["master_key"];
  if (typeof text !== "string" || text === "") return null;
  return text.startsWith("os.environ/") ? (variables[text.slice("os.environ/".length)] ?? null) : text;
}
