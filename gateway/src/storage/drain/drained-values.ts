import { type LedgerColumn, type LedgerRow, ledgerTable, usageTable } from "@sluice/contract/words";
import { type LedgerValues, ledgerColumns, ledgerPlaces, tagsText } from "../ledger/ledger-columns.ts";

/** The array of an intent or a settlement, as journal-record.ts tells. */
export type RecordRow = readonly unknown[];

/**
 * The entry that an intent and its settlement make, straight from the journal's arrays to the order of the table's columns: no entry
 * is made on the way. The same as `valuesOf` of the joined entry.
 */
export function drainedValues(intent: RecordRow, settlement: RecordRow, calls = 1): LedgerValues {
  const values: (string | number | null)[] = new Array(ledgerColumns.length);
  for (let n = 0; n < ofIntent.length; n++) take(values, ofIntent[n] as Source, intent);
  for (let n = 0; n < ofSettlement.length; n++) take(values, ofSettlement[n] as Source, settlement);
  values[ledgerPlaces.calls] = calls;
  const usage = settlement[usagePlace] as readonly number[];
  // A file of the version before lacks the newest classes.
  for (let n = 0; n < usageTable.length; n++) values[ledgerPlaces.input_uncached + n] = usage[n] ?? 0;
  return values;
}

interface Source {
  /** In the table, and in the record. */
  readonly column: number;
  readonly place: number;
  readonly kind: LedgerColumn["kind"];
  /** What the column holds where the record has nothing. */
  readonly absent: string | number | null;
}

const columns: readonly LedgerColumn[] = ledgerTable.filter((row): row is LedgerColumn => row.kind !== "usage");
const ofIntent = sourcesIn("intent");
// Both begin with the attempt's id.
const ofSettlement = sourcesIn("settle").filter(({ place }) => place > 0);
const usagePlace = (ledgerTable as readonly LedgerRow[]).find(({ kind }) => kind === "usage")?.journal.settle ?? 0;

function sourcesIn(record: "intent" | "settle"): readonly Source[] {
  return columns.flatMap((row) => {
    const { column, kind, journal } = row;
    const absent = "absent" in row ? row.absent : null;
    const place = (journal as { readonly intent?: number; readonly settle?: number })[record];
    return place === undefined ? [] : [{ column: ledgerPlaces[column], place, kind, absent }];
  });
}

function take(values: (string | number | null)[], { column, place, kind, absent }: Source, row: RecordRow): void {
  const written = row[place];
  if (typeof written === "string" || typeof written === "number") values[column] = written;
  else if (kind === "flag") values[column] = written === true ? 1 : 0;
  else if (kind === "tags") values[column] = tagsText((written ?? {}) as Readonly<Record<string, string>>);
  else values[column] = written === null || written === undefined ? absent : JSON.stringify(written);
}
