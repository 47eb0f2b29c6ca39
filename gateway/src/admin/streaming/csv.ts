import type { Clock, Paged } from "#ports/index.ts";

/** A line of CSV (RFC 4180) with a line feed. null is empty. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(field).join(",")}\n`;
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  // Spreadsheets execute cells that start like a formula, and callers choose models, tags and user agents (OWASP, "CSV Injection").
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Bounds of one file of a list. A file that reaches one of them ends with a line about it. */
const csvRowsMax = 100_000;
const csvMs = 300_000;

interface CsvList<Row> {
  readonly header: readonly string[];
  /** Read before the status is sent, so that an invalid filter is an error. */
  readonly first: Paged<Row>;
  readonly read: (cursor: string) => Promise<Paged<Row>>;
  readonly valuesOf: (row: Row) => readonly unknown[];
  /** Whether the file must end now. Default: never. */
  readonly isLate?: (() => boolean) | undefined;
}

/** For `isLate`: the time for one file begins now. */
export function csvDeadline(clock: Pick<Clock, "monotonic">): () => boolean {
  const endMs = clock.monotonic() + csvMs;
  return () => clock.monotonic() >= endMs;
}

/** The lines of a list, page after page. */
export async function* csvLines<Row>({
  header,
  first,
  read,
  valuesOf,
  isLate = () => false,
}: CsvList<Row>): AsyncGenerator<string, void> {
  yield csvLine(header);
  let page = first;
  for (let rows = 0; ; page = await read(page.next)) {
    const data = page.data.slice(0, csvRowsMax - rows);
    rows += data.length;
    yield data.map((row) => csvLine(valuesOf(row))).join("");
    if (page.next === null) return;
    if (rows >= csvRowsMax || isLate()) {
      yield csvLine([`Stopped after ${rows} rows. Export a shorter time range or use filters.`]);
      return;
    }
  }
}

/** Streams a CSV file as fast as the client reads it. `name` without extension. */
export function csvResponse(name: string, lines: AsyncIterator<string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await lines.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    },
  });
}
