import { useCallback, useEffect } from "react";
import { useUrlChange, useUrlText } from "../routes/search.ts";
import { useSession } from "../session/session-context.tsx";
import type { Column } from "./table-props.ts";

/** The columns that a user has chosen, by id and in their order; null: the table's default. */
export type ColumnChoice = readonly string[] | null;

const prefix = "sluice.columns.";
const columnsMax = 50;

/** Reads `table:one,two`; null if it is malformed or of another table. */
export function readChoice(text: string | null, table: string): ColumnChoice {
  const [name, ids = ""] = (text ?? "").split(":");
  if (name !== table) return null;
  const chosen = ids.split(",").filter((id) => /^[\w.-]{1,64}$/.test(id));
  return chosen.length === 0 ? null : [...new Set(chosen)].slice(0, columnsMax);
}

/** The columns to show. The first one names the row and stays first; columns of buttons stay last. Both cannot be hidden. */
export function shownColumns<Row>(columns: readonly Column<Row>[], choice: ColumnChoice): readonly Column<Row>[] {
  const [first, ...rest] = columns;
  const chosen = (choice ?? []).flatMap((id) => rest.find((each) => each.id === id && each.quiet !== true) ?? []);
  if (first === undefined || chosen.length === 0) return columns.filter(({ optional }) => optional !== true);
  // A column that the user added is shown on every screen; the table then scrolls in its frame.
  const added = chosen.map((column) => (column.optional === true ? { ...column, secondary: false } : column));
  return [first, ...added, ...rest.filter(({ quiet }) => quiet === true)];
}

/**
 * The choice of columns for the table with this name: in the URL, so that a link and a saved view have it, and remembered in the browser
 * for each user. Nothing is chosen for a table without a name.
 */
export function useColumnChoice(name: string | undefined): readonly [ColumnChoice, (choice: ColumnChoice) => void] {
  const { user } = useSession();
  const [text] = useUrlText("columns");
  const change = useUrlChange();
  const table = name?.split("-")[0] ?? "";
  const key = `${prefix}${user.id}.${table}`;
  const inUrl = table === "" ? null : readChoice(text, table);
  const missing = table === "" || inUrl !== null ? null : readChoice(remembered(key), table);
  const remind = missing === null ? "" : textOf(table, missing);
  useEffect(() => {
    if (remind !== "") change({ columns: remind });
  }, [remind, change]);
  const choose = useCallback(
    (next: ColumnChoice) => {
      if (table === "") return;
      const written = next === null ? "" : textOf(table, next);
      remember(key, written);
      change({ columns: written });
    },
    [table, key, change],
  );
  return [inUrl ?? missing, choose];
}

function textOf(table: string, ids: readonly string[]): string {
  return `${table}:${ids.join(",")}`;
}

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    // If the browser blocks storage, the choice is in the URL only.
    return null;
  }
}

function remember(key: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // As above.
  }
}
