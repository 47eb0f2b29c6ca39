import { type ExportedValue, exportedColumns, exportedValues, type LedgerEntry } from "#core/index.ts";

export const csvHeader = `${exportedColumns.join(",")}\n`;

/** RFC 4180, with line feeds. Null is empty, tags are JSON. */
export function csvLine(entry: LedgerEntry): string {
  return `${exportedValues(entry).map(csvField).join(",")}\n`;
}

function csvField(value: ExportedValue): string {
  if (value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = harmless(typeof value === "string" ? value : JSON.stringify(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Spreadsheets run a cell that begins like a formula, and a caller chooses its user agent and tags. A leading
 * apostrophe makes it text (OWASP, "CSV Injection").
 */
function harmless(text: string): string {
  return /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
}
