import { Button, Checkbox, Loader, NativeSelect, Skeleton } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconSelector } from "@tabler/icons-react";
import {
  createSortedRowModel,
  functionalUpdate,
  type ReactTable,
  rowSortingFeature,
  type SortingState,
  sortFn_alphanumeric,
  tableFeatures,
  type Updater,
  useTable,
} from "@tanstack/react-table";
import { useMemo, useState } from "react";
import type { Rows } from "../api/use-pages.ts";
import { t } from "../language/areas/components.ts";
import { shownColumns, useColumnChoice } from "./column-choice.ts";
import { ColumnMenu } from "./column-menu.tsx";
import { countWords } from "./count-words.ts";
import { DataRows } from "./data-rows.tsx";
import { LoadMore } from "./load-more.tsx";
import { ProblemAlert } from "./problem-alert.tsx";
import type { Column, DataTableProps, Selection } from "./table-props.ts";

export type { Column } from "./table-props.ts";

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
});
type Features = typeof features;
type SortedTable<Row extends object> = ReactTable<Features, Row>;

const noRows: readonly never[] = [];
const manyRows = 6;

/**
 * A list. It is sorted by the gateway, or in the page if every row is loaded, loads more rows by cursor, and shows cards on narrow
 * screens. Arrow keys move between rows, Enter opens one.
 */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { name, label, columns: all, rows, rowKey, empty, sortedBy, order, pageSize, waitingRows = manyRows } = props;
  const [pages, setPages] = useState(1);
  const most = pageSize === undefined ? Number.POSITIVE_INFINITY : pages * pageSize;
  const [choice, choose] = useColumnChoice(name);
  const { selection } = props;
  // Rows that are not loaded yet could not be sorted.
  const sorts: Sorter = order === undefined ? (rows.more === null ? "page" : "none") : "gateway";
  const table = useTable<Features, Row>({
    features,
    columns: useMemo(() => all.map((column) => definitionOf(column, sorts)), [all, sorts]),
    state: order === undefined ? {} : { sorting: sortingOf(order.by) },
    ...(order === undefined ? {} : orderedElsewhere(order)),
    data: rows.rows ?? noRows,
    getRowId: rowKey,
    enableSortingRemoval: order === undefined,
    enableMultiSort: false,
    initialState: { sorting: sortingOf(sortedBy) },
  });
  const columns = useMemo(() => shownColumns(all, choice), [all, choice]);
  if (rows.problem !== null && rows.rows === null) return <ProblemAlert problem={rows.problem} onRetry={rows.reload} />;
  if (rows.rows !== null && rows.rows.length === 0 && rows.more === null)
    return <div className="table-empty">{empty}</div>;
  return (
    <div className="table-box" data-stale={rows.stale || undefined}>
      {rows.problem !== null && <ProblemAlert problem={rows.problem} onRetry={rows.reload} />}
      <SortSelect columns={columns} table={table} />
      {name !== undefined && (
        <div className="table-tools">
          <ColumnMenu
            columns={[...canHide(columns), ...canHide(all).filter(({ id }) => !columns.some((each) => each.id === id))]}
            shown={canHide(columns).map(({ id }) => id)}
            onChange={choose}
            onReset={choice === null ? null : () => choose(null)}
          />
        </div>
      )}
      <table className="data-table" aria-label={label} aria-busy={rows.loading || rows.stale}>
        <thead>
          <tr>
            {selection !== undefined && (
              <SelectionHead selection={selection} rows={rows.rows ?? noRows} rowKey={rowKey} />
            )}
            {columns.map((column) => (
              <ColumnHead key={column.id} column={column} table={table} />
            ))}
          </tr>
        </thead>
        {rows.rows === null ? (
          <Waiting columns={columns} rows={waitingRows} selects={selection !== undefined} />
        ) : (
          <DataRows
            {...props}
            columns={columns}
            items={table
              .getRowModel()
              .rows.slice(0, most)
              .map((row) => row.original)}
          />
        )}
      </table>
      {most >= (rows.rows?.length ?? 0) && <LoadMore rows={rows} byHand={pageSize !== undefined} />}
      {pageSize !== undefined && rows.rows !== null && (
        <PageFoot shown={Math.min(most, rows.rows.length)} rows={rows} onMore={() => setPages(pages + 1)} />
      )}
      {rows.stale && <Loader size="xs" className="table-stale" aria-label={t("components.table.loading")} />}
    </div>
  );
}

function orderedElsewhere({ by, onChange }: NonNullable<DataTableProps<object>["order"]>) {
  return {
    manualSorting: true,
    onSortingChange: (change: Updater<SortingState>) => {
      const [chosen] = functionalUpdate(change, sortingOf(by));
      if (chosen !== undefined) onChange(chosen.desc ? `-${chosen.id}` : chosen.id);
    },
  };
}

interface PageFootProps {
  readonly shown: number;
  readonly rows: Rows<unknown>;
  readonly onMore: () => void;
}

/** The number of rows, and a button to load more. */
function PageFoot({ shown, rows, onMore }: PageFootProps) {
  const loaded = rows.rows?.length ?? 0;
  if (loaded === 0 && rows.more === null) return null;
  return (
    <div className="table-foot">
      <span aria-live="polite">{countWords(shown, rows)}</span>
      {shown < loaded && (
        <Button variant="default" size="compact-sm" onClick={onMore}>
          {t("components.actions.showMore")}
        </Button>
      )}
    </div>
  );
}

/** All but the first column, which names the row, and columns of buttons. */
function canHide<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  return columns.slice(1).filter(({ quiet }) => quiet !== true);
}

/** Who sorts the rows. */
type Sorter = "gateway" | "page" | "none";

function definitionOf<Row extends object>(column: Column<Row>, sorts: Sorter) {
  const { id, sortBy, align } = column;
  return {
    id,
    accessorFn: (row: Row) => (typeof sortBy === "function" ? (sortBy(row) ?? undefined) : undefined),
    enableSorting: sortBy === "gateway" ? sorts === "gateway" : sortBy !== undefined && sorts === "page",
    sortUndefined: "last" as const,
    ...(sortBy === "gateway" ? { sortDescFirst: align === "right" } : {}),
  };
}

function sortingOf(sortedBy: string | undefined): SortingState {
  if (sortedBy === undefined) return [];
  const desc = sortedBy.startsWith("-");
  return [{ id: desc ? sortedBy.slice(1) : sortedBy, desc }];
}

interface ColumnHeadProps<Row extends object> {
  readonly column: Column<Row>;
  readonly table: SortedTable<Row>;
}

function ColumnHead<Row extends object>({ column, table }: ColumnHeadProps<Row>) {
  const sorting = table.getColumn(column.id);
  const sorted = sorting?.getIsSorted() ?? false;
  const words = column.quiet === true ? <span className="unseen">{column.header}</span> : column.header;
  return (
    <th
      scope="col"
      data-align={column.align}
      data-quiet={column.quiet}
      data-secondary={column.secondary}
      style={column.width === undefined ? undefined : { width: column.width }}
      aria-sort={sorted === false ? undefined : sorted === "asc" ? "ascending" : "descending"}
    >
      {sorting?.getCanSort() !== true ? (
        words
      ) : (
        <button type="button" className="sort-button" onClick={sorting?.getToggleSortingHandler()}>
          {words}
          <SortMark sorted={sorted} />
        </button>
      )}
    </th>
  );
}

interface SortSelectProps<Row extends object> {
  readonly columns: readonly Column<Row>[];
  readonly table: SortedTable<Row>;
}

/** Sorts cards, which have no column headers. */
function SortSelect<Row extends object>({ columns, table }: SortSelectProps<Row>) {
  const sortable = columns.filter(({ id }) => table.getColumn(id)?.getCanSort() === true);
  if (sortable.length === 0) return null;
  const sorted = sortable.find(({ id }) => table.getColumn(id)?.getIsSorted() !== false);
  const isDescending = sorted !== undefined && table.getColumn(sorted.id)?.getIsSorted() === "desc";
  const value = sorted === undefined ? "" : isDescending ? `-${sorted.id}` : sorted.id;
  return (
    <div className="table-sort cards-only">
      <NativeSelect
        size="xs"
        label={t("components.table.sortBy")}
        value={value}
        data={[
          ...(value === "" ? [{ value, label: t("components.table.unsorted") }] : []),
          ...sortable.flatMap(({ id, header }) => [
            { value: id, label: t("components.table.ascending", { column: header }) },
            { value: `-${id}`, label: t("components.table.descending", { column: header }) },
          ]),
        ]}
        onChange={({ currentTarget }) => {
          const [chosen] = sortingOf(currentTarget.value);
          if (chosen !== undefined) table.getColumn(chosen.id)?.toggleSorting(chosen.desc);
        }}
      />
    </div>
  );
}

interface SelectionHeadProps<Row> {
  readonly selection: Selection<Row>;
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
}

/** Selects all loaded rows, or none. */
function SelectionHead<Row>({ selection, rows, rowKey }: SelectionHeadProps<Row>) {
  const chosen = rows.filter((row) => selection.rows.has(rowKey(row))).length;
  const change = () => {
    const next = new Map(selection.rows);
    for (const row of rows) {
      if (chosen === rows.length) next.delete(rowKey(row));
      else next.set(rowKey(row), row);
    }
    selection.onChange(next);
  };
  return (
    <th scope="col" data-quiet>
      <Checkbox
        size="xs"
        aria-label={t("components.table.selectLoaded")}
        checked={rows.length > 0 && chosen === rows.length}
        indeterminate={chosen > 0 && chosen < rows.length}
        disabled={rows.length === 0}
        onChange={change}
      />
    </th>
  );
}

function SortMark({ sorted }: { readonly sorted: "asc" | "desc" | false }) {
  if (sorted === false) return <IconSelector size={13} aria-hidden className="sort-mark" />;
  return sorted === "asc" ? <IconArrowUp size={13} aria-hidden /> : <IconArrowDown size={13} aria-hidden />;
}

interface WaitingProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: number;
  readonly selects: boolean;
}

function Waiting<Row>({ columns, rows, selects }: WaitingProps<Row>) {
  return (
    <tbody>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows that are not there yet have nothing else.
        <tr key={row}>
          {selects && <td data-quiet />}
          {columns.map((column) => (
            <td key={column.id} data-label={column.header} data-secondary={column.secondary}>
              <Skeleton height={12} width={`${45 + ((row * 17) % 40)}%`} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
