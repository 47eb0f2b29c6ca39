import {
  bounds,
  type ExportedValue,
  exportedColumns,
  exportedRow,
  exportedValues,
  type LedgerEntry,
} from "#core/index.ts";
import type { LedgerFilter, LedgerStore } from "#ports/index.ts";

export type ExportFormat = "jsonl" | "csv";

/**
 * Streams the matching entries as text, newest first, one line per piece with its line feed. CSV begins with a header. Memory holds one
 * page. Entries that arrive meanwhile neither repeat nor displace others.
 */
export async function* exportEntries(options: {
  readonly store: Pick<LedgerStore, "page">;
  readonly filter: LedgerFilter;
  readonly format: ExportFormat;
  readonly signal?: AbortSignal;
}): AsyncGenerator<string, void, undefined> {
  const { store, filter, format, signal } = options;
  const line = format === "csv" ? csvLine : jsonLine;
  if (format === "csv") yield csvHeader;
  let cursor: string | null = null;
  do {
    signal?.throwIfAborted();
    const page: Awaited<ReturnType<LedgerStore["page"]>> = await store.page(filter, cursor, bounds.listPageMax);
    for (const entry of page.entries) yield line(entry);
    cursor = page.next;
  } while (cursor !== null);
}

function jsonLine(entry: LedgerEntry): string {
  return `${JSON.stringify(exportedRow(entry))}\n`;
}

const csvHeader = `${exportedColumns.join(",")}\n`;

/** RFC 4180, with line feeds. Null is empty, tags are JSON. */
function csvLine(entry: LedgerEntry): string {
  return `${exportedValues(entry).map(csvField).join(",")}\n`;
}

function csvField(value: ExportedValue): string {
  if (value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = harmless(typeof value === "string" ? value : JSON.stringify(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Spreadsheets run formulas, and callers choose user agents and tags. A leading apostrophe makes text (OWASP, "CSV Injection"). */
function harmless(text: string): string {
  return /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
}
