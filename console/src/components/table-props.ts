import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Rows } from "../api/use-pages.ts";

export interface Column<Row> {
  readonly id: string;
  /** Also the label of the value when the table becomes cards. */
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Makes the column sortable. Sorts only the loaded rows, unless the table has `order`. null sorts last. */
  readonly sortBy?: (row: Row) => string | number | null;
  /** Aligns figures to the right. */
  readonly align?: "left" | "right";
  /** CSS width. */
  readonly width?: string;
  /** Left out on a screen of middle width, where the others would not have room. */
  readonly secondary?: boolean;
  /** Hidden until the user selects it in the table's column menu; only for tables with a name. */
  readonly optional?: boolean;
  /** The header is for screen readers only: buttons, icons. The column is as narrow as its content. */
  readonly quiet?: boolean;
}

export interface DataTableProps<Row> {
  /** What the browser keeps the choice of its columns under. Without a name they are not chosen. */
  readonly name?: string;
  /** The table's name for screen readers: "API keys". */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: Rows<Row>;
  readonly rowKey: (row: Row) => string;
  /** Link of a row. Its first column becomes the link, and the whole row can be clicked. */
  readonly rowLink?: (row: Row) => LinkProps;
  /** Shown for an empty list: an explanation, and a button to create the first item. */
  readonly empty: ReactNode;
  /** Initial sorting: a column's id, prefixed with `-` for descending. */
  readonly sortedBy?: string;
  /** The whole list is ordered where it comes from, and the heads of columns choose how; written as in `sortedBy`. */
  readonly order?: { readonly by: string; readonly onChange: (by: string) => void };
  /** How many rows to show at first, and with each click on the button below. */
  readonly pageSize?: number;
  /** How many placeholder rows to show while loading, so that the layout does not shift. */
  readonly waitingRows?: number;
  /** Dims a row: one that is out of use. */
  readonly dimmed?: (row: Row) => boolean;
}
