import { writeFile } from "node:fs/promises";
import { configJsonSchemaText } from "./config-json-schema.ts";

/** Writes `contract/config.schema.json` anew. Run it after a change of the config schema. */
async function writeSchema(): Promise<void> {
  await writeFile(new URL("../config.schema.json", import.meta.url), configJsonSchemaText());
}

if (import.meta.main) await writeSchema();
