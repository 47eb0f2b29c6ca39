import { type LedgerRow, ledgerTable } from "@sluice/contract/words";
import { inIntent, inSettlement, type LedgerRecord } from "../journal/record-text.ts";

const indexed = (ledgerTable as readonly LedgerRow[]).filter((row) => row.indexed === true);

const places: Readonly<Record<string, number>> = { ...inSettlement, ...inIntent };

/** The columns that `ledger_entries` holds beside the record. `type`: in PostgreSQL. */
export const indexColumns = indexed.map((row) => ({ column: row.column, type: typeOf(row), read: readerOf(row) }));

function typeOf({ kind }: LedgerRow): "text" | "bigint" | "float8" {
  if (kind === "ms") return "float8";
  return kind === "time" || kind === "status" ? "bigint" : "text";
}

/** Reads a column at its place in the record. */
function readerOf(row: LedgerRow): (record: LedgerRecord) => string | number | null {
  const place = places[row.member] ?? 0;
  if (typeOf(row) === "text") return (record) => record.textOrNull(place);
  if (row.kind !== "ms") return (record) => record.numberOrNull(place);
  return (record) => {
    const micros = record.numberOrNull(place);
    return micros === null ? null : micros / 1_000;
  };
}
