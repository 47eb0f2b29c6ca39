import { rolesTable } from "./roles-table.ts";

const begin = "<!-- The table is written by contract/src/write-roles.ts -->";
const end = "<!-- End of the table -->";

/** The page with the table as the routes are now. Throws when the page has no place for it. */
export function withRolesTable(page: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page has no "${begin}" … "${end}".`);
  return `${before}${begin}\n\n${rolesTable()}\n\n${end}${after}`;
}
