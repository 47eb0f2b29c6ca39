import { fromLiteLlm, type ImportSources, liteLlmTables } from "#importers/index.ts";
import type { Terminal } from "../terminal.ts";
import type { ImportOptions, ReadImport } from "./import-options.ts";
import { readObject } from "./read-source.ts";
import { readTables } from "./source-database.ts";

/** config.yaml, the database, or both. */
export async function readLiteLlm(
  { from, database }: ImportOptions,
  terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  const config = from === undefined ? {} : await readObject(from, terminal);
  const tables = await readTables(database, liteLlmTables, "LiteLLM_");
  const { LITELLM_SALT_KEY, LITELLM_MASTER_KEY } = terminal.variables;
  return fromLiteLlm({
    ...sources,
    config,
    tables,
    saltKey: LITELLM_SALT_KEY ?? LITELLM_MASTER_KEY ?? masterKeyIn(config, terminal),
  });
}

/** `general_settings.master_key`, which may name a variable. */
function masterKeyIn(config: Readonly<Record<string, unknown>>, { variables }: Terminal): string | null {
  const general = config["general_settings"] as Readonly<Record<string, unknown>> | null | undefined;
  const text = general?.["master_key"];
  if (typeof text !== "string" || text === "") return null;
  return text.startsWith("os.environ/") ? (variables[text.slice("os.environ/".length)] ?? null) : text;
}
