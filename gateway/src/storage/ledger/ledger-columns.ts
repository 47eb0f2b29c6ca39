import type { AttemptDetail } from "@sluice/contract/console";
import { type LedgerColumn, ledgerTable, type UsageColumnName, usageTable } from "@sluice/contract/words";
import { inputClasses, type LedgerEntry, noUsage, outputClasses, type Usage, usageClassColumns } from "#core/index.ts";
import type { Row } from "../database/schema.ts";

type LedgerRow = Row<"ledger_entries">;
type Listed = (typeof ledgerTable)[number];

const columns = ledgerTable.filter((row): row is LedgerColumn => row.kind !== "usage");

/** The columns of `ledger_entries`: the one list that both directions and every statement use. */
export const ledgerColumns: readonly (keyof LedgerRow)[] = [
  ...columns.map(({ column }) => column),
  ...usageTable.map(({ column }) => column),
];

const kindOf = new Map<string, Listed["kind"]>(columns.map(({ column, kind }) => [column, kind]));
const textKinds: ReadonlySet<string> = new Set(["id", "text", "outcome", "source", "tags", "texts"]);

/** Columns that hold fractions of milliseconds, and those that hold whole numbers. The others hold text. */
export const timeColumns: ReadonlySet<string> = new Set(ledgerColumns.filter((column) => kindOf.get(column) === "ms"));
export const numberColumns: ReadonlySet<string> = new Set(
  ledgerColumns.filter((column) => !timeColumns.has(column) && !textKinds.has(kindOf.get(column) ?? "usage")),
);

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
/** Of a member that the table lacks, nothing is a value: see `valuesOf`. Objects have a table of their own. */
type Unlisted = { readonly [Member in Exclude<keyof LedgerEntry, keyof ListedMembers | "objects">]: never };

type Bind = (entry: ListedMembers) => unknown;

const binds: readonly Bind[] = [
  ...columns.map(bindOf),
  ...usageTable.map(
    ({ name }): Bind =>
      (e) =>
        e.usage?.[name],
  ),
];

/** Where each column stands in `ledgerColumns`. Classes of usage stand behind each other, in the order of their table. */
export const ledgerPlaces = Object.fromEntries(ledgerColumns.map((column, place) => [column, place])) as Readonly<
  Record<keyof LedgerRow, number>
>;

/** An entry as the table has it: a value for each of `ledgerColumns`, in their order. */
export type LedgerValues = readonly (string | number | null)[];

/** Does not compile while an entry has members that the table lacks. */
export function valuesOf(entry: LedgerEntry): LedgerValues {
  const members: ListedMembers & Unlisted = entry;
  return binds.map((bind) => bind(members) as LedgerValues[number]);
}

function bindOf(row: LedgerColumn): Bind {
  const { member } = row;
  if (row.kind === "flag") return (entry) => (entry[member] === true ? 1 : 0);
  if (row.kind === "tags") return ({ tags }) => tagsText(tags ?? {});
  if (row.kind === "texts") return (entry) => (entry[member] === undefined ? null : JSON.stringify(entry[member]));
  if (!("absent" in row)) return (entry) => entry[member];
  const { absent } = row;
  return (entry) => entry[member] ?? absent;
}

/** The entry again that `valuesOf` was given. */
export function entryOfValues(values: LedgerValues): LedgerEntry {
  return entryOf(rowOfValues(values));
}

export function rowOfValues(values: LedgerValues): LedgerRow {
  return Object.fromEntries(ledgerColumns.map((column, place) => [column, values[place]])) as LedgerRow;
}

export function entryOf(row: LedgerRow): LedgerEntry {
  const entry: Record<string, unknown> = { usage: usageOf(row) };
  for (const column of columns) {
    const stored = row[column.column];
    if ("absent" in column && stored === column.absent) continue;
    entry[column.member] = shownValue(column, stored);
  }
  return entry as unknown as LedgerEntry;
}

/** As entries and the admin API have it. */
function shownValue({ kind }: Pick<LedgerColumn, "kind">, stored: string | number | null): unknown {
  if (kind === "flag") return stored === 1;
  if (kind === "tags") return stored === noTags ? {} : JSON.parse(String(stored));
  if (kind === "texts") return stored === null ? [] : JSON.parse(String(stored));
  return stored;
}

interface ShownColumns {
  readonly list: Extract<LedgerColumn, { readonly shown: "list" }>["column"];
  readonly detail: Extract<LedgerColumn, { readonly shown: "detail" }>["column"];
}

/** The columns that the admin API shows as they are: with each attempt of a list, or with those of one request. */
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

/** The column each class of usage lives in, in ledger and rollups alike. */
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

const noTags = "{}";

export function tagsText(tags: LedgerEntry["tags"]): string {
  for (const _ in tags) return JSON.stringify(tags);
  return noTags;
}

type Value = LedgerValues[number];
const oftenUsed: readonly UsageColumn[] = ["input_uncached", "cache_read", "output", "reasoning"];
const seldomUsed = usageColumns.filter((column) => !oftenUsed.includes(column));
const seldomFilled = [
  "error_code",
  "warnings",
  "vendor_cost_nano_usd",
  "own_cost_nano_usd",
  "served",
  "served_model",
  "unpriced",
  "operation",
];

/** What most entries have in the columns that few fill. A statement that says it itself binds nothing there. */
const usual: Readonly<Record<string, Value>> = {
  cost_source: "price",
  calls: 1,
  tags: noTags,
  ...Object.fromEntries(seldomFilled.map((column) => [column, null])),
  ...Object.fromEntries(seldomUsed.map((column) => [column, 0])),
};

/** By the places of `ledgerColumns`; undefined where a column has no such value. */
export const usualValues: readonly (Value | undefined)[] = ledgerColumns.map((column) => usual[column]);

export function literal(value: Value): string {
  return typeof value === "string" ? `'${value}'` : String(value);
}
