/**
 * What stands between the rows there are and the rows there should be, by name; `vanished` are rows of the file that it no longer has.
 * `wanted` rows are whole rows that already carry the id of the row they match; rows that
 * other hands manage are touched only where the file has one of the same name.
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
    const known = before.get(nameOf(row));
    if (known === undefined) create.push(row);
    else if (!sameRow(known, row)) update.push({ before: known, after: row });
  }
  const undeclared = existing.filter((row) => row.managed_by === "file" && !names.has(nameOf(row)));
  return { create, update, vanished: undeclared };
}

/** Whether writing `wanted` would change nothing. A column that only a later version knows is not ours to look at. */
export function sameRow(stored: object, wanted: object): boolean {
  const there = new Map(Object.entries(stored));
  return Object.entries(wanted).every(([column, value]) => there.get(column) === value);
}

/** How a report calls an update that may change who owns the object. */
export function updateAction(
  before: { readonly managed_by?: string },
  after: { readonly managed_by?: string },
): "update" | "take-over" | "release" | "suspend" | "resume" {
  if (before.managed_by === after.managed_by) return "update";
  if (after.managed_by === "suspended") return "suspend";
  if (before.managed_by === "suspended") return "resume";
  return after.managed_by === "file" ? "take-over" : "release";
}

/** Values in pieces a statement can carry. */
export function chunksOf<T>(values: readonly T[], size = 500): readonly (readonly T[])[] {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size));
  return chunks;
}
