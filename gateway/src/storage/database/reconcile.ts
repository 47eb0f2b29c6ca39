/**
 * Differences between existing and wanted rows, by name. `wanted` rows carry the id of the row they match. `undeclared`: rows of the
 * config file that it no longer has. Rows managed elsewhere are changed only if the file has one of the same name.
 */
export function reconcile<Row extends { readonly managed_by: string }>(
  existing: readonly Row[],
  wanted: readonly Row[],
  nameOf: (row: Row) => string,
) {
  const before = new Map(existing.map((row) => [nameOf(row), row]));
  const names = new Set(wanted.map(nameOf));
  const create: Row[] = [];
  const update: { before: Row; after: Row }[] = [];
  for (const row of wanted) {
    const existing = before.get(nameOf(row));
    if (existing === undefined) create.push(row);
    else if (!sameRow(existing, row)) update.push({ before: existing, after: row });
  }
  const undeclared = existing.filter((row) => row.managed_by === "file" && !names.has(nameOf(row)));
  return { create, update, vanished: undeclared };
}

/** Writing `wanted` would change nothing. Columns of later versions are ignored. */
export function sameRow(stored: object, wanted: object): boolean {
  const there = new Map(Object.entries(stored));
  return Object.entries(wanted).every(([column, value]) => there.get(column) === value);
}

/** The audit action of an update, which may change the owner. */
export function updateAction(
  before: { readonly managed_by?: string },
  after: { readonly managed_by?: string },
): "update" | "take-over" | "release" | "suspend" | "resume" {
  if (before.managed_by === after.managed_by) return "update";
  if (after.managed_by === "suspended") return "suspend";
  if (before.managed_by === "suspended") return "resume";
  return after.managed_by === "file" ? "take-over" : "release";
}

/** Splits values into chunks that fit into a statement. */
export function chunksOf<T>(values: readonly T[], size = 500): readonly (readonly T[])[] {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size));
  return chunks;
}
