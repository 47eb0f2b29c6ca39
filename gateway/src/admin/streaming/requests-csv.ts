import type { RequestRow } from "@sluice/contract";
import { requestCsvColumns, requestFilterSchema } from "@sluice/contract/console/requests";
import { bounds } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { queryOf, readAs, type StreamingCall } from "../handlers/calls.ts";
import { findRequests } from "../handlers/request-handlers.ts";

/** Bounds of one file. The last line of a file that ends at one of them names it. */
const csvRowsMax = 100_000;
const csvMs = 300_000;

/** Streams the attempts that match as CSV, newest first. Pages are read as fast as the client takes them. */
export async function requestsCsv(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const { clock } = dependencies;
  const query = readAs(requestFilterSchema, queryOf(call.request));
  const endMs = clock.monotonic() + csvMs;
  const read = (cursor: string | null) => findRequests(dependencies, call, query, cursor, bounds.listPageMax);
  // The first page is read before the status is sent, so that an invalid filter is an error.
  let page = await read(null);
  let rows = 0;
  const encoder = new TextEncoder();
  const lines = (): string => {
    const data = page.data.slice(0, csvRowsMax - rows);
    rows += data.length;
    return data.map((row) => `${csvLine(row)}\n`).join("");
  };
  let first = true;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (first) {
          first = false;
          controller.enqueue(encoder.encode(`${requestCsvColumns.join(",")}\n${lines()}`));
          return;
        }
        if (page.next === null && rows < csvRowsMax) return controller.close();
        if (page.next === null || rows >= csvRowsMax || clock.monotonic() >= endMs) {
          controller.enqueue(
            encoder.encode(`"Stopped after ${rows} rows. Export a shorter time range or use filters."\n`),
          );
          return controller.close();
        }
        page = await read(page.next);
        controller.enqueue(encoder.encode(lines()));
      },
    },
    { highWaterMark: 0 },
  );
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="requests-${day}.csv"`,
    },
  });
}

function csvLine(row: RequestRow): string {
  const values: { readonly [Column in (typeof requestCsvColumns)[number]]: unknown } = {
    ...row,
    time: new Date(row.at).toISOString(),
    workspace: row.workspace.slug,
    key: row.key.name,
    group: row.group.name,
    person: row.person?.email,
    tags: Object.entries(row.tags)
      .map(([name, value]) => `${name}=${value}`)
      .join(";"),
  };
  return requestCsvColumns.map((column) => field(values[column])).join(",");
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  // Spreadsheets execute cells that start like a formula, and callers choose models, tags and user agents (OWASP, "CSV Injection").
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
