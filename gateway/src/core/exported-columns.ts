import { ledgerTable, usageTable } from "@sluice/contract/words";
import type { LedgerEntry } from "./ledger-entry.ts";

export type ExportedValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>> | null;

type Read = (entry: LedgerEntry) => ExportedValue;

/** Times that no column holds: from the arrival of the whole call. They stand before the tags. */
const worked: readonly [string, Read][] = [
  ["call_first_byte_ms", (e) => sinceArrival(e, e.firstByteMs)],
  ["call_first_token_ms", (e) => sinceArrival(e, e.firstTokenMs)],
  ["call_total_ms", (e) => sinceArrival(e, e.totalMs)],
];

/**
 * An entry as the outside sees it: each column that the table of the ledger exports and where it comes from, in the order of the
 * table. Times are Unix milliseconds, durations milliseconds.
 */
const columns: readonly [string, Read][] = ledgerTable.flatMap((row): [string, Read][] => {
  if (row.exported !== true) return [];
  if (row.kind === "usage") return usageTable.map(({ name, column }) => [column, (e) => e.usage[name]]);
  const absent = "absent" in row ? row.absent : null;
  const own: [string, Read] = [row.column, (e) => e[row.member] ?? absent];
  return row.member === "tags" ? [...worked, own] : [own];
});

/** How long the caller of the whole call had waited then. */
function sinceArrival({ startedAfterMs }: LedgerEntry, ms: number | null): number | null {
  return ms === null ? null : startedAfterMs + ms;
}

export const exportedColumns: readonly string[] = columns.map(([column]) => column);

const readers = columns.map(([, read]) => read);

export function exportedValues(entry: LedgerEntry): readonly ExportedValue[] {
  return readers.map((read) => read(entry));
}

export function exportedRow(entry: LedgerEntry): Readonly<Record<string, ExportedValue>> {
  return Object.fromEntries(exportedColumns.map((column, index) => [column, readers[index]?.(entry) ?? null]));
}
