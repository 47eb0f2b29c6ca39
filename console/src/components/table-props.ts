import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Rows } from "../api/use-pages.ts";

export interface Column<Row> {
  readonly id: string;
  /** Also the label of the value when the table becomes cards. */
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Makes the column sortable, among the rows that are loaded but for a table with `order`. null sorts last. */
  readonly sortBy?: (row: Row) => string | number | null;
  /** Figures stand to the right. */
  readonly align?: "left" | "right";
  /** CSS width. */
  readonly width?: string;
  /** Left out on a screen of middle width, where the others would not have room. */
  readonly secondary?: boolean;
  /** Not shown until somebody chooses it from the table's columns; only in a table with a name. */
  readonly optional?: boolean;
  /** The head is only for those who hear the page: buttons, icons. As narrow as what stands in it. */
  readonly quiet?: boolean;
}

export interface DataTableProps<Row> {
  /** What the browser keeps the choice of its columns under. Without a name they are not chosen. */
  readonly name?: string;
  /** What the table is, for those who hear the page: "API keys". */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: Rows<Row>;
  readonly rowKey: (row: Row) => string;
  /** Where a row leads. Its first column becomes the link, and the whole row takes the click. */
  readonly rowLink?: (row: Row) => LinkProps;
  /** Shown when there is nothing: what this would be, and a button to make the first. */
  readonly empty: ReactNode;
  /** Sorted like this at first: a column's id, with `-` before it for the greatest first. */
  readonly sortedBy?: string;
  /** The whole list is ordered where it comes from, and the heads of columns choose how; written as in `sortedBy`. */
  readonly order?: { readonly by: string; readonly onChange: (by: string) => void };
  /** So many rows at first, and so many more by a button below, beside how many there are. */
  readonly pageSize?: number;
  /** So many rows keep the place while it loads; what stands below moves by each one too many or too few. */
  readonly waitingRows?: number;
  /** Dims a row: one that is out of use. */
  readonly dimmed?: (row: Row) => boolean;
}
