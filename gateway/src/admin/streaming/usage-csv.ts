import type { UsageFigures } from "@sluice/contract";
import { chargebackQuery, usageCsvColumns, usageCsvQuery } from "@sluice/contract/console/usage";
import { invalidRequest } from "#core/index.ts";
import type { ReportStore, UsageRow, UsageRowsFilter } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { queryOf, readAs, type StreamingCall } from "../handlers/calls.ts";
import { chargebackOf, rowsFilterOf } from "../handlers/usage-handlers.ts";
import { csvDeadline, csvLine, csvLines, csvResponse } from "./csv.ts";

const pageRows = 1_000;

type Column = (typeof usageCsvColumns)[number];

/** Streams all rows of a usage list as CSV, in its order, with the requested columns. Money is exact to the nano-dollar. */
export async function usageCsv(call: StreamingCall, { clock, reports }: ConsoleDependencies): Promise<Response> {
  const query = readAs(usageCsvQuery, queryOf(call.request));
  const columns = columnsOf(query.columns);
  const filter = rowsFilterOf(call, query);
  const days = [filter.from, filter.to - 1].map((at) => new Date(at).toISOString().slice(0, 10));
  const lines = await usageCsvLines(reports, filter, columns, csvDeadline(clock));
  return csvResponse(`usage-by-${query.by}-${days.join("-to-")}`, lines);
}

/** Reads the first page before it returns, so that an invalid filter is an error. */
export async function usageCsvLines(
  reports: Pick<ReportStore, "usageRows">,
  filter: UsageRowsFilter,
  columns: readonly Column[] = usageCsvColumns,
  isLate?: () => boolean,
): Promise<AsyncGenerator<string, void>> {
  const read = (cursor: string | null) => reports.usageRows(filter, cursor, pageRows);
  const first = await read(null);
  const { totals, costNanoUsd } = first;
  const valueIn = (row: UsageRow, name: Column): unknown => {
    if (name === "cost_usd") return usdText(row.costNanoUsd);
    if (name === "share") return costNanoUsd === 0 ? null : row.costNanoUsd / costNanoUsd;
    const { figures, previous } = row;
    if (name === "tokens") return figures.input_tokens + figures.output_tokens;
    if (name === "error_rate") return figures.requests === 0 ? null : figures.failed_requests / figures.requests;
    if (name === "previous_cost_usd") return previous?.cost_usd;
    if (name === "previous_requests") return previous?.requests;
    return name in totals ? figures[name as keyof UsageFigures] : null;
  };
  return csvLines({
    header: ["id", filter.by, ...columns],
    first,
    read,
    valuesOf: (row) => [row.id, row.label, ...columns.map((name) => valueIn(row, name))],
    isLate,
  });
}

function columnsOf(text: string | undefined): readonly Column[] {
  if (text === undefined) return usageCsvColumns;
  return text.split(",").map((name) => {
    const column = usageCsvColumns.find((each) => each === name);
    if (column === undefined) throw invalidRequest("columns", `Unknown column ${JSON.stringify(name)}.`);
    return column;
  });
}

/** The chargeback report as CSV, with a last line of totals. */
export async function chargebackCsv(call: StreamingCall, { reports }: ConsoleDependencies): Promise<Response> {
  const query = readAs(chargebackQuery, queryOf(call.request));
  const { months, filter } = chargebackOf(query, call.workspace?.id ?? null);
  const lines = chargebackCsvLines(
    query.by,
    months.map(({ month }) => month),
    await reports.chargeback(filter),
  );
  async function* all() {
    yield* lines;
  }
  return csvResponse(`chargeback-by-${query.by}-${query.from}-to-${query.to}`, all());
}

export function* chargebackCsvLines(
  by: string,
  months: readonly string[],
  { data, totals }: Awaited<ReturnType<ReportStore["chargeback"]>>,
): Generator<string, void> {
  const costs = (nano: readonly number[]) => [...nano, nano.reduce((sum, cost) => sum + cost, 0)].map(usdText);
  yield csvLine(["id", by, ...months, "total"]);
  for (const { id, label, costNanoUsd } of data) yield csvLine([id, label, ...costs(costNanoUsd)]);
  yield csvLine(["", "Total", ...costs(totals)]);
}

const nanoPerUsd = 1_000_000_000;

/** An exact decimal number. An object and not a string, so that `csvLine` does not take a minus sign for a formula. */
function usdText(nano: number): { toString(): string } {
  const sign = nano < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(nano) / nanoPerUsd);
  const rest = String(Math.abs(nano) % nanoPerUsd)
    .padStart(9, "0")
    .replace(/0+$/, "");
  const text = `${sign}${whole}${rest === "" ? "" : `.${rest}`}`;
  return { toString: () => text };
}
