import { writeFile } from "node:fs/promises";
import { kindForm, providerKinds } from "#providers/index.ts";

/** Every provider type with its settings, as the contract stores them for the config file's JSON Schema. */
export function kindSettings(): Readonly<Record<string, unknown>> {
  const rows = providerKinds.map((kind) => {
    const fields = kindForm(kind).fields.map(({ name, type, help, options }) => [name, { type, help, options }]);
    return [kind.id, Object.fromEntries(fields)];
  });
  return Object.fromEntries(rows);
}

/**
 * Updates `contract/provider-kinds.json`. Run it after changing a type's settings, then `contract/src/write-schema.ts`.
 */
if (import.meta.main) {
  const file = new URL("../../contract/provider-kinds.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(kindSettings(), null, 2)}\n`);
}
