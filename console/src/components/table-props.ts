import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Rows } from "../api/use-pages.ts";

export interface Column<Row> {
  readonly id: string;
  /** Also the label of the value when the table becomes cards. */
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /**
   * Makes the column sortable, always over all rows: `gateway` if the table has an `order` that is named as the column; otherwise the
   * page sorts, once it has loaded every row. null sorts last.
   */
  readonly sortBy?: "gateway" | ((row: Row) => string | number | null);
  /** Aligns figures to the right. */
  readonly align?: "left" | "right";
  /** CSS width. */
  readonly width?: string;
  /** Hidden on medium-width screens, where there is no room for it. */
  readonly secondary?: boolean;
  /** Hidden until the user selects it in the table's column menu; only for tables with a name. */
  readonly optional?: boolean;
  /** The header is for screen readers only: buttons, icons. The column is as narrow as its content. */
  readonly quiet?: boolean;
}

export interface Selection<Row> {
  /** Selected rows by key. A row stays selected when a filter hides it. */
  readonly rows: ReadonlyMap<string, Row>;
  readonly onChange: (rows: ReadonlyMap<string, Row>) => void;
  /** The name of a row for screen readers. */
  readonly nameOf: (row: Row) => string;
}

export interface DataTableProps<Row> {
  /** The name under which the browser stores the choice of columns. Without it, columns cannot be chosen. */
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
  /** The current order, if the gateway sorts the whole list; column headers change it. Same format as `sortedBy`. */
  readonly order?: { readonly by: string; readonly onChange: (by: string) => void };
  /** Adds a checkbox to each row. */
  readonly selection?: Selection<Row>;
  /** How many rows to show at first, and with each click on the button below. */
  readonly pageSize?: number;
  /** How many placeholder rows to show while loading, so that the layout does not shift. */
  readonly waitingRows?: number;
  /** Whether a panel next to the list shows this row. */
  readonly opened?: (row: Row) => boolean;
  /** Whether to dim a row, such as a disabled object. */
  readonly dimmed?: (row: Row) => boolean;
}
