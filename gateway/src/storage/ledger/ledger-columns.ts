import type { AttemptDetail } from "@sluice/contract/console";
import { type LedgerColumn, ledgerTable, type UsageColumnName, usageTable } from "@sluice/contract/words";
import { inputClasses, type LedgerEntry, noUsage, outputClasses, type Usage, usageClassColumns } from "#core/index.ts";
import type { Row } from "../database/schema.ts";
import { entryOfRecord, readLedgerRecord } from "../journal/journal-record.ts";

export type LedgerRow = Row<"ledger">;
type Listed = (typeof ledgerTable)[number];

const columns = ledgerTable.filter((row): row is LedgerColumn => row.kind !== "usage");

/** The columns of the view `ledger`. */
export const ledgerColumns: readonly (keyof LedgerRow)[] = [
  ...columns.map(({ column }) => column),
  ...usageTable.map(({ column }) => column),
];

/** What a member of an entry is, by the kind of its column. */
type Member<Of extends Listed> =
  | Members[Of["kind"]]
  | (Of extends { readonly nullable: true } ? null : never)
  | (Of extends { readonly absent: unknown } ? undefined : never);

interface Members extends Record<"id" | "text" | "outcome" | "source", string> {
  readonly time: number;
  readonly ms: number;
  readonly count: number;
  readonly calls: number;
  readonly status: number;
  readonly nanoUsd: number;
  readonly flag: boolean;
  readonly tags: LedgerEntry["tags"];
  readonly texts: readonly string[];
  readonly usage: Usage;
}

type ListedMembers = { readonly [Of in Listed as Of["member"]]?: Member<Of> };
/** Of a member that the table lacks, nothing is a value: see `rowOf`. Objects have a table of their own. */
type Unlisted = { readonly [Member in Exclude<keyof LedgerEntry, keyof ListedMembers | "objects">]: never };

/** An entry as the view shows it. Does not compile while an entry has members that the table lacks. */
export function rowOf(entry: LedgerEntry): LedgerRow {
  const members: ListedMembers & Unlisted = entry;
  const shown = columns.map((row) => [row.column, storedValue(row, members)]);
  const usage = usageTable.map(({ name, column }) => [column, entry.usage[name]]);
  return Object.fromEntries([...shown, ...usage]) as LedgerRow;
}

function storedValue(row: LedgerColumn, entry: ListedMembers): unknown {
  const value = entry[row.member];
  if (row.kind === "flag") return value === true ? 1 : 0;
  if (row.kind === "tags") return JSON.stringify(value ?? {});
  if (row.kind === "texts") return value === undefined ? null : JSON.stringify(value);
  return value ?? ("absent" in row ? row.absent : null);
}

/** The entry of a row. The objects that its upstream keeps have a table of their own. */
export function storedEntry({ record }: Pick<LedgerRow, "record">): LedgerEntry {
  const { objects: _, ...entry } = entryOfRecord(readLedgerRecord(record));
  return entry;
}

function shownValue({ kind }: Pick<LedgerColumn, "kind">, stored: string | number | null): unknown {
  if (kind === "flag") return stored === 1;
  if (kind === "tags") return JSON.parse(String(stored));
  if (kind === "texts") return stored === null ? [] : JSON.parse(String(stored));
  return stored;
}

interface ShownColumns {
  readonly list: Extract<LedgerColumn, { readonly shown: "list" }>["column"];
  readonly detail: Extract<LedgerColumn, { readonly shown: "detail" }>["column"];
}

/** Columns that the admin API shows unchanged: for each attempt of a list, or for those of one request. */
export const shownColumns = { list: columnsShown("list"), detail: columnsShown("detail") } as const;

function columnsShown<Where extends keyof ShownColumns>(where: Where): readonly ShownColumns[Where][] {
  const shown = columns.filter((row) => row.shown === where);
  return shown.map(({ column }) => column) as readonly LedgerColumn["column"][] as readonly ShownColumns[Where][];
}

export function shownFields<Where extends keyof ShownColumns>(
  where: Where,
  row: Pick<LedgerRow, ShownColumns[Where]>,
): Pick<AttemptDetail, ShownColumns[Where]> {
  const stored: Readonly<Record<string, string | number | null>> = row;
  const shown = columns.filter((column) => column.shown === where);
  const fields = shown.map((each) => [each.column, shownValue(each, stored[each.column] ?? null)]);
  return Object.fromEntries(fields) as Pick<AttemptDetail, ShownColumns[Where]>;
}

/** The column of each usage class, in ledger and rollups. */
export const usageColumnOf = usageClassColumns;

export type UsageColumn = UsageColumnName;

export const usageColumns: readonly UsageColumn[] = usageTable.map(({ column }) => column);
export const inputColumns = inputClasses.map((name) => usageColumnOf[name]);
export const outputColumns = outputClasses.map((name) => usageColumnOf[name]);

export function usageOf(row: Pick<LedgerRow, UsageColumn>): Usage {
  const usage: { -readonly [Class in keyof Usage]: number } = { ...noUsage };
  for (const { name, column } of usageTable) usage[name] = row[column];
  return usage;
}
