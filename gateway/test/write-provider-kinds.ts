import { writeFile } from "node:fs/promises";
import { kindForm, providerKinds } from "#providers/index.ts";

/** Every kind with its settings, as the contract keeps them for the JSON Schema of the config file. */
export function kindSettings(): Readonly<Record<string, unknown>> {
  const rows = providerKinds.map((kind) => {
    const fields = kindForm(kind).fields.map(({ name, type, help, options }) => [name, { type, help, options }]);
    return [kind.id, Object.fromEntries(fields)];
  });
  return Object.fromEntries(rows);
}

/** Writes `contract/provider-kinds.json` anew. Run it after a change of a kind's settings, then `contract/src/write-schema.ts`. */
if (import.meta.main) {
  const file = new URL("../../contract/provider-kinds.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(kindSettings(), null, 2)}\n`);
}
