import { readFile, writeFile } from "node:fs/promises";
import { withRolesTable } from "./console/roles-document.ts";

/** Writes the table of `docs/console-roles.md` anew. Run it after a change of a route of the admin API. */
async function writeRoles(): Promise<void> {
  const page = new URL("../../docs/console-roles.md", import.meta.url);
  await writeFile(page, withRolesTable(await readFile(page, "utf8")));
}

if (import.meta.main) await writeRoles();
