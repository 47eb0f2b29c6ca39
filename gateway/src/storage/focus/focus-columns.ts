import { focusColumns } from "@sluice/contract/words";

export type FocusColumn = (typeof focusColumns)[number];

/** A CSV line (RFC 4180). Values that are left out, or empty, are null. */
export function focusLine(values: Partial<Record<FocusColumn, string>>): string {
  return `${focusColumns.map((column) => field(column, values[column] ?? "")).join(",")}\r\n`;
}

function field(column: FocusColumn, value: string): string {
  // Spreadsheets run formulas, and people choose names and tags (OWASP, "CSV Injection"). Amounts may be negative.
  const text = /^[=+\-@\t\r\n]/.test(value) && !amounts.test(column) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Columns with numbers that we write. */
const amounts = /(?:Cost|Quantity|UnitPrice)$/;
