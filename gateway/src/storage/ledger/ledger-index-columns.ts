import { type LedgerRow, ledgerTable } from "@sluice/contract/words";
import type { LedgerRecord } from "../journal/journal-record.ts";

const indexed = (ledgerTable as readonly LedgerRow[]).filter((row) => row.indexed === true);

/** The columns that `ledger_entries` holds beside the record. `type`: in PostgreSQL. */
export const indexColumns = indexed.map((row) => ({ column: row.column, type: typeOf(row), read: readerOf(row) }));

function typeOf({ kind }: LedgerRow): "text" | "bigint" | "float8" {
  if (kind === "ms") return "float8";
  return kind === "time" || kind === "status" ? "bigint" : "text";
}

type IndexValue = string | number | null;

/** Reads a column at its place in the record. */
function readerOf({ kind, journal }: LedgerRow): (record: LedgerRecord) => IndexValue {
  const { intent, settle = -1 } = journal;
  if (intent !== undefined) return (record) => (record.intent[intent] ?? null) as IndexValue;
  if (kind !== "ms") return ({ settlement }) => (settlement[settle] ?? null) as IndexValue;
  return ({ settlement }) => {
    const micros = settlement[settle];
    // null if it is not a number; the table rejects such a row.
    return typeof micros === "number" ? micros / 1_000 : null;
  };
}
