import { useCallback, useState } from "react";

/** The columns that the user has shown or hidden, by id; the others follow the table's default. */
export type ColumnChoice = Readonly<Record<string, boolean>>;

const prefix = "sluice.columns.";
const columnsMax = 50;

/** Reads a stored choice; returns an empty one if it is malformed. */
export function readChoice(text: string | null): ColumnChoice {
  try {
    const stored: unknown = JSON.parse(text ?? "{}");
    if (stored === null || typeof stored !== "object") return {};
    const entries = Object.entries(stored).slice(0, columnsMax);
    return Object.fromEntries(entries.filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean"));
  } catch {
    return {};
  }
}

/** The user's choice of columns for the table with this name, stored in the browser. Nothing is stored for a table without a name. */
export function useColumnChoice(table: string | undefined): readonly [ColumnChoice, (choice: ColumnChoice) => void] {
  const [choice, setChoice] = useState<ColumnChoice>(() => (table === undefined ? {} : readChoice(storedText(table))));
  const choose = useCallback(
    (next: ColumnChoice) => {
      setChoice(next);
      if (table !== undefined) keep(table, next);
    },
    [table],
  );
  return [choice, choose];
}

function storedText(table: string): string | null {
  try {
    return localStorage.getItem(prefix + table);
  } catch {
    // If the browser blocks storage, the choice lasts as long as the page.
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
