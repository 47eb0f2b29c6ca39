import type { RequestRow } from "@sluice/contract";
import { requestCsvColumns, requestFilterSchema } from "@sluice/contract/console/requests";
import { bounds } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { queryOf, readAs, type StreamingCall } from "../handlers/calls.ts";
import { findRequests } from "../handlers/request-handlers.ts";
import { csvLine, csvResponse } from "./csv.ts";

/** Bounds of one file. A file that reaches one of them ends with a line about it. */
const csvRowsMax = 100_000;
const csvMs = 300_000;

/** Streams the attempts that match as CSV, newest first. Pages are read as fast as the client reads the file. */
export async function requestsCsv(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const { clock } = dependencies;
  const query = readAs(requestFilterSchema, queryOf(call.request));
  const endMs = clock.monotonic() + csvMs;
  const read = (cursor: string | null) =>
    findRequests(dependencies, call, query, cursor, bounds.listPageMax, cursor !== null);
  // The first page is read before the status is sent, so that an invalid filter is an error.
  let page = await read(null);
  let rows = 0;
  async function* lines() {
    yield csvLine(requestCsvColumns);
    while (true) {
      const data = page.data.slice(0, csvRowsMax - rows);
      rows += data.length;
      yield data.map(requestLine).join("");
      if (page.next === null) return;
      if (rows >= csvRowsMax || clock.monotonic() >= endMs) {
        yield csvLine([`Stopped after ${rows} rows. Export a shorter time range or use filters.`]);
        return;
      }
      page = await read(page.next);
    }
  }
  return csvResponse(`requests-${new Date(clock.now()).toISOString().slice(0, 10)}`, lines());
}

function requestLine(row: RequestRow): string {
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
  return csvLine(requestCsvColumns.map((column) => values[column]));
}
