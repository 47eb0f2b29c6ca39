import { fromOpenRouter, fromPortkey, type ImportSources } from "#importers/index.ts";
import { type Terminal, UsageError } from "../terminal.ts";
import type { ImportOptions, ReadImport } from "./import-options.ts";
import { readObject } from "./read-source.ts";

/** Its list of keys, as a file or from its address with the management key in OPENROUTER_MANAGEMENT_KEY. */
export async function readOpenRouter(
  { from }: ImportOptions,
  terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  const bearer = terminal.variables["OPENROUTER_MANAGEMENT_KEY"] ?? null;
  return { draft: fromOpenRouter(await objectFrom(from, terminal, bearer), sources.now) };
}

/** A file with its virtual keys and configs. */
export async function readPortkey(
  { from }: ImportOptions,
  terminal: Terminal,
  sources: ImportSources,
): Promise<ReadImport> {
  return { draft: fromPortkey(await objectFrom(from, terminal, null), sources) };
}

async function objectFrom(from: string | undefined, terminal: Terminal, bearer: string | null) {
  if (from === undefined) throw new UsageError("name its export with --from");
  return await readObject(from, terminal, bearer);
}
