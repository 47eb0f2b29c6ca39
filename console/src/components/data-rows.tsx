import { Checkbox } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { t } from "../language/areas/components.ts";
import type { Column, DataTableProps, Selection } from "./table-props.ts";

interface DataRowsProps<Row extends object> extends DataTableProps<Row> {
  /** The visible columns, in order. */
  readonly items: readonly Row[];
}

/** Up to this count all rows are in the page, so the browser's search finds them; above it only visible rows are. */
const virtualFrom = 300;
const rowHeight = 37;
const overscan = 20;

export function DataRows<Row extends object>(props: DataRowsProps<Row>) {
  const { items } = props;
  return items.length > virtualFrom ? (
    <VirtualRows {...props} />
  ) : (
    <tbody onKeyDown={moveAmongRows}>
      {items.map((item) => (
        <DataRow key={props.rowKey(item)} item={item} {...props} />
      ))}
    </tbody>
  );
}

function VirtualRows<Row extends object>({ items, ...props }: DataRowsProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const box = body.current?.getBoundingClientRect();
    if (box !== undefined) setTop(box.top + window.scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: top,
    getItemKey: (index) => keyAt(items, index, props.rowKey),
  });
  const shown = virtual.getVirtualItems();
  const before = (shown[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((shown.at(-1)?.end ?? top) - top);
  return (
    <tbody ref={body} onKeyDown={moveAmongRows}>
      <Gap height={before} columns={props.columns.length + (props.selection === undefined ? 0 : 1)} />
      {shown.map(({ index, key }) => {
        const item = items[index];
        return item === undefined ? null : (
          <DataRow key={String(key)} item={item} {...props} place={index} measure={virtual.measureElement} />
        );
      })}
      <Gap height={after} columns={props.columns.length + (props.selection === undefined ? 0 : 1)} />
    </tbody>
  );
}

function keyAt<Row>(items: readonly Row[], index: number, rowKey: (row: Row) => string): string | number {
  const item = items[index];
  return item === undefined ? index : rowKey(item);
}

function Gap({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="table-gap">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

interface DataRowProps<Row extends object>
  extends Pick<DataTableProps<Row>, "columns" | "rowKey" | "rowLink" | "dimmed" | "opened" | "selection"> {
  readonly item: Row;
  readonly place?: number;
  readonly measure?: (row: HTMLTableRowElement | null) => void;
}

function DataRow<Row extends object>(props: DataRowProps<Row>) {
  const { item, columns, rowKey, rowLink, dimmed, opened, selection, place, measure } = props;
  const isOpened = opened?.(item) === true;
  const link = rowLink?.(item);
  return (
    <tr
      data-dimmed={dimmed?.(item) || undefined}
      data-linked={link !== undefined || undefined}
      data-opened={isOpened || undefined}
      ref={measure}
      data-index={place}
      data-selected={selection?.rows.has(rowKey(item)) || undefined}
    >
      {selection !== undefined && <SelectionCell item={item} id={rowKey(item)} selection={selection} />}
      {columns.map((column, index) => {
        const content = column.cell(item);
        return (
          <td
            key={column.id}
            data-align={column.align}
            data-quiet={column.quiet}
            data-secondary={column.secondary}
            data-label={labelOf(column)}
          >
            {index === 0 && link !== undefined ? (
              <Link {...link} className="row-link" {...(isOpened ? { "aria-current": "true" as const } : {})}>
                {content}
              </Link>
            ) : (
              content
            )}
          </td>
        );
      })}
    </tr>
  );
}

interface SelectionCellProps<Row> {
  readonly item: Row;
  readonly id: string;
  readonly selection: Selection<Row>;
}

function SelectionCell<Row>({ item, id, selection }: SelectionCellProps<Row>) {
  return (
    <td data-quiet data-select>
      <Checkbox
        size="xs"
        aria-label={t("components.table.select", { name: selection.nameOf(item) })}
        checked={selection.rows.has(id)}
        onChange={({ currentTarget }) => {
          const next = new Map(selection.rows);
          if (currentTarget.checked) next.set(id, item);
          else next.delete(id);
          selection.onChange(next);
        }}
      />
    </td>
  );
}

function labelOf<Row>(column: Column<Row>): string | undefined {
  return column.quiet === true ? undefined : column.header;
}

/** The arrow keys go from row to row while a row's link has the focus. */
function moveAmongRows(event: KeyboardEvent<HTMLTableSectionElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || !(event.target instanceof HTMLElement) || !event.target.classList.contains("row-link")) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".row-link")];
  const next = links[links.indexOf(event.target) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
