import type { AttemptDetail } from "@sluice/contract/console";
import { type LedgerColumn, ledgerTable, type UsageColumnName, usageTable } from "@sluice/contract/words";
import { inputClasses, type LedgerEntry, outputClasses, usageClassColumns } from "#core/index.ts";
import type { Row } from "../database/schema.ts";
import { entryOfRecord } from "../journal/journal-record.ts";

type Listed = (typeof ledgerTable)[number];

const columns = ledgerTable.filter((row): row is LedgerColumn => row.kind !== "usage");

/** The entry of a row, without the objects that its upstream stores, which are in another table. */
export function storedEntry({ record }: Pick<Row<"ledger">, "record">): LedgerEntry {
  const { objects: _, ...entry } = entryOfRecord(record);
  return entry;
}

interface ShownColumns {
  readonly list: Extract<LedgerColumn, { readonly shown: "list" }>["column"];
  readonly detail: Extract<LedgerColumn, { readonly shown: "detail" }>["column"];
}

/** Makes the compiler demand every member in `ledgerTable`, except objects, which have another table. */
type Unlisted = { readonly [Member in Exclude<keyof LedgerEntry, Listed["member"] | "objects">]: never };

/**
 * Members of an entry that the admin API returns unchanged, by their columns: for each attempt of a list, or of one request. Does not
 * compile if an entry has members that are not in `ledgerTable`.
 */
export function shownFields<Where extends keyof ShownColumns>(
  where: Where,
  entry: LedgerEntry & Unlisted,
): Pick<AttemptDetail, ShownColumns[Where]> {
  const shown = columns.filter((row) => row.shown === where);
  const fields = shown.map((row) => [row.column, entry[row.member] ?? absentValue(row)]);
  return Object.fromEntries(fields) as Pick<AttemptDetail, ShownColumns[Where]>;
}

function absentValue(row: LedgerColumn): unknown {
  if (row.kind === "texts") return [];
  return "absent" in row ? row.absent : null;
}

export type UsageColumn = UsageColumnName;

export const usageColumns: readonly UsageColumn[] = usageTable.map(({ column }) => column);
export const inputColumns = inputClasses.map((name) => usageClassColumns[name]);
export const outputColumns = outputClasses.map((name) => usageClassColumns[name]);
