import {
  type GuardrailCheckRow,
  guardrailCheckCsvColumns,
  guardrailFindingsFilterSchema,
} from "@sluice/contract/console";
import { bounds } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { queryOf, readAs, type StreamingCall } from "../handlers/calls.ts";
import { checkFilterOf } from "../handlers/guardrail-finding-handlers.ts";
import { csvDeadline, csvLines, csvResponse } from "./csv.ts";

/** Streams the checks that match as CSV, newest first. */
export async function guardrailChecksCsv(
  call: StreamingCall,
  { clock, reports }: Pick<ConsoleDependencies, "clock" | "reports">,
): Promise<Response> {
  const filter = checkFilterOf(call, readAs(guardrailFindingsFilterSchema, queryOf(call.request)), clock.now());
  const read = (cursor: string | null) => reports.guardrailChecks(filter, cursor, bounds.listPageMax);
  const isLate = csvDeadline(clock);
  const lines = csvLines({ header: guardrailCheckCsvColumns, first: await read(null), read, valuesOf, isLate });
  return csvResponse(`guardrail-checks-${new Date(clock.now()).toISOString().slice(0, 10)}`, lines);
}

function valuesOf(row: GuardrailCheckRow): readonly unknown[] {
  const values: { readonly [Column in (typeof guardrailCheckCsvColumns)[number]]: unknown } = {
    ...row,
    time: new Date(row.at).toISOString(),
    workspace: row.workspace.slug,
    group: row.group.name,
    key: row.key.name,
    person: row.person?.email,
    guardrail: row.guardrail.name,
    findings: Object.entries(row.counts)
      .map(([type, count]) => `${type}=${count}`)
      .join(";"),
    paths: row.paths.join(";"),
  };
  return guardrailCheckCsvColumns.map((column) => values[column]);
}
