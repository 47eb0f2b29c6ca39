import type { Cell } from "./run.ts";

/** Formats cells as a table: one row per kind, one column per endpoint, passed checks of all; in brackets if refused or only estimated. */
export function cellTable(cells: readonly Cell[]): string {
  const endpoints = [...new Set(cells.map(({ row }) => row.endpoint))];
  const kinds = [...new Set(cells.map(({ column }) => column.name))];
  const text = (kind: string, endpoint: string): string => {
    const cell = cells.find(({ row, column }) => column.name === kind && row.endpoint === endpoint);
    if (cell === undefined) return "";
    const passed = `${cell.checks - cell.faults.length}/${cell.checks}`;
    return cell.served ? passed : `(${passed})`;
  };
  const rows = [
    ["", ...endpoints],
    ...kinds.map((kind) => [kind, ...endpoints.map((endpoint) => text(kind, endpoint))]),
  ];
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
