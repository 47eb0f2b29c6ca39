import type { RequestRow } from "@sluice/contract";
import { requestCsvColumns, requestFilterSchema } from "@sluice/contract/console/requests";
import { bounds } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { queryOf, readAs, type StreamingCall } from "../handlers/calls.ts";
import { findRequests } from "../handlers/request-handlers.ts";
import { csvDeadline, csvLines, csvResponse } from "./csv.ts";

/** Streams the attempts that match as CSV, newest first. Pages are read as fast as the client reads the file. */
export async function requestsCsv(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const { clock } = dependencies;
  const query = readAs(requestFilterSchema, queryOf(call.request));
  const read = (cursor: string | null) =>
    findRequests(dependencies, call, query, cursor, bounds.listPageMax, cursor !== null);
  const isLate = csvDeadline(clock);
  const lines = csvLines({ header: requestCsvColumns, first: await read(null), read, valuesOf, isLate });
  return csvResponse(`requests-${new Date(clock.now()).toISOString().slice(0, 10)}`, lines);
}

function valuesOf(row: RequestRow): readonly unknown[] {
  const values: { readonly [Column in (typeof requestCsvColumns)[number]]: unknown } = {
    ...row,
    guardrail_verdict: row.guardrail_verdict,
    would_refuse: row.would_refuse,
    time: new Date(row.at).toISOString(),
    workspace: row.workspace.slug,
    key: row.key.name,
    group: row.group.name,
    person: row.person?.email,
    tags: Object.entries(row.tags)
      .map(([name, value]) => `${name}=${value}`)
      .join(";"),
  };
  return requestCsvColumns.map((column) => values[column]);
}
