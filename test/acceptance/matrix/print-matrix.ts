import type { PairResult } from "./run-matrix.ts";

/** Formats the results: one row per caller, one column per upstream, passed cases of all in each cell. */
export function matrixTable(results: readonly PairResult[]): string {
  const upstreams = [...new Set(results.map((result) => result.upstream))];
  const callers = [...new Set(results.map((result) => result.caller))];
  const cell = (caller: string, upstream: string): string => {
    const result = results.find((entry) => entry.caller === caller && entry.upstream === upstream);
    return result === undefined ? "" : `${result.total - result.faults.length}/${result.total}`;
  };
  const rows = [
    ["", ...upstreams],
    ...callers.map((caller) => [caller, ...upstreams.map((entry) => cell(caller, entry))]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
