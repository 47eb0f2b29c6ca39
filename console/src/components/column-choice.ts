import { useCallback, useState } from "react";

/** Which columns of a table somebody has shown or hidden, by their ids; those that are not in it are as the table has them. */
export type ColumnChoice = Readonly<Record<string, boolean>>;

const prefix = "sluice.columns.";
const columnsMax = 50;

/** What a browser has kept; what cannot be read, or is of another shape, is nothing. */
export function readChoice(text: string | null): ColumnChoice {
  try {
    const kept: unknown = JSON.parse(text ?? "{}");
    if (kept === null || typeof kept !== "object") return {};
    const entries = Object.entries(kept).slice(0, columnsMax);
    return Object.fromEntries(entries.filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean"));
  } catch {
    return {};
  }
}

/** The choice of columns of the table with that name, kept in this browser. A table without a name keeps none. */
export function useColumnChoice(table: string | undefined): readonly [ColumnChoice, (choice: ColumnChoice) => void] {
  const [choice, setChoice] = useState<ColumnChoice>(() => (table === undefined ? {} : readChoice(keptText(table))));
  const choose = useCallback(
    (next: ColumnChoice) => {
      setChoice(next);
      if (table !== undefined) keep(table, next);
    },
    [table],
  );
  return [choice, choose];
}

function keptText(table: string): string | null {
  try {
    return localStorage.getItem(prefix + table);
  } catch {
    // Some browsers refuse it; the choice then lasts as long as the page.
    return null;
  }
}

function keep(table: string, choice: ColumnChoice): void {
  try {
    if (Object.keys(choice).length === 0) localStorage.removeItem(prefix + table);
    else localStorage.setItem(prefix + table, JSON.stringify(choice));
  } catch {
    // As above.
  }
}
