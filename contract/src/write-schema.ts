import { readFile, writeFile } from "node:fs/promises";
import { configJsonSchemaText } from "./config-json-schema.ts";
import { settingsDocument } from "./settings-table.ts";

/** Writes `contract/config.schema.json` and the settings in `docs/configuration.md` anew. Run it after a change of either's source. */
async function writeSchema(): Promise<void> {
  await writeFile(new URL("../config.schema.json", import.meta.url), configJsonSchemaText());
  const page = new URL("../../docs/configuration.md", import.meta.url);
  await writeFile(page, withSettings(await readFile(page, "utf8")));
}

/** The page with the settings of now. */
export function withSettings(page: string): string {
  const [before = "", rest = ""] = page.split(start);
  return `${before}${start}\n\n${settingsDocument()}\n\n${rest.slice(rest.indexOf(end))}`;
}

const start = "<!-- settings: written by `bun contract/src/write-schema.ts` -->";
const end = "<!-- end of settings -->";

if (import.meta.main) await writeSchema();
