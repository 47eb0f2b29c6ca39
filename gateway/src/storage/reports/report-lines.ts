import { type AliasableExpression, type ExpressionBuilder, sql } from "kysely";
import type { LatencyColumn, Tables } from "../database/schema.ts";
import type { RowPart, TimeSpan } from "../ledger/ledger-day-reading.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import { rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import type { KnownRow, KnownTime } from "./kept-days.ts";
import type { ReportContext } from "./report-desk.ts";
import { addFigures, type FigureSums, noFigures } from "./report-figures.ts";
import { timeSlices } from "./report-slices.ts";
import { joinedTimes, type UsageColumn, type UsageRows } from "./report-usage-rows.ts";

export interface LineSums {
  /** In `apart`; its length stands for the rest. */
  readonly index: number;
  readonly totals: FigureSums;
  readonly steps: Map<number, FigureSums>;
}

export interface Apart {
  /** null: all of the time at once. */
  readonly stepMs: number | null;
  readonly column: UsageColumn | null;
  readonly apart: readonly string[];
  /** Of those apart only. */
  readonly alone?: boolean;
}

/** The sums of each line, by its steps. Days that are over are read once, as long as nothing in them changes. */
export async function sumsByLine(
  context: ReportContext,
  source: UsageRows,
  span: TimeSpan,
  lines: Apart,
): Promise<readonly LineSums[]> {
  const found = new Map<number, LineSums>();
  const add = (index: number, at: number, sums: FigureSums): void => {
    let line = found.get(index);
    if (line === undefined) {
      line = { index, totals: noFigures(), steps: new Map() };
      found.set(index, line);
    }
    const step = line.steps.get(at) ?? noFigures();
    line.steps.set(at, step);
    addFigures(step, sums);
    addFigures(line.totals, sums);
  };
  const { stepMs } = lines;
  const stepAt = (moment: number) => (stepMs === null ? span.from : moment - (moment % stepMs));
  const covered = await source.covered(span);
  const known = source.known(covered, lines);
  for (const rows of await knownRows(context, source, known, lines)) {
    for (const { step, line, sums } of rows) add(line, stepAt(step), sums);
  }
  for (const [part, rest] of source.rest(covered, known)) {
    await timeSlices(rest, source.firstSliceMs, context.deadline, async (slice) => {
      for (const { step, line, sums } of await rowsIn(source, slice, lines, part)) add(line, stepAt(step), sums);
    });
  }
  return [...found.values()].sort((a, b) => a.index - b.index);
}

/** What each of these times has, from what is kept of it, or read. */
async function knownRows(
  { kept, deadline }: ReportContext,
  source: UsageRows,
  times: readonly KnownTime[],
  lines: Apart,
): Promise<readonly (readonly KnownRow[])[]> {
  const stepMs = Math.min(lines.stepMs ?? dayMs, dayMs);
  const question = JSON.stringify([source.question, lines.column, lines.apart, lines.alone ?? false, stepMs]);
  const found: (readonly KnownRow[])[] = [];
  const missing: KnownTime[] = [];
  for (const time of times) {
    const rows = kept.rowsOf(question, time);
    if (rows === null) missing.push(time);
    else found.push(rows);
  }
  const read = new Map(missing.map((time) => [time, [] as KnownRow[]]));
  for (const run of joinedTimes(missing)) {
    await timeSlices(run, source.firstSliceMs, deadline, async (slice) => {
      for (const row of await rowsIn(source, slice, { ...lines, stepMs }, "known")) {
        const time = missing.find(({ from, to }) => from - (from % stepMs) <= row.step && row.step < to);
        read.get(time as KnownTime)?.push({ ...row, sums: lean(row.sums) });
      }
    });
  }
  for (const [time, rows] of read) {
    kept.keepRows(question, time, rows);
    found.push(rows);
  }
  return found;
}

async function rowsIn(
  source: UsageRows,
  slice: TimeSpan,
  { column, stepMs, apart, alone = false }: Apart,
  part: RowPart,
): Promise<readonly KnownRow[]> {
  const all = source.within(slice, { column, stepMs, part });
  const rows = await (alone && column !== null ? all.where(column, "in", apart) : all)
    .select((eb) => [
      // Without lines, hours are summed as they come and need not be sorted.
      stepOf(eb, column === null && source.byHour ? 1 : stepMs).as("step"),
      ...rollupSums.map((name) => eb.fn.sum<number>(name).as(name)),
      ...rollupSketches.map((name) => source.times(name).as(name)),
      lineNumber(eb, column, apart).as("line"),
    ])
    .groupBy(["step", "line"])
    .execute();
  return (rows as unknown as readonly SummedRow[]).map((row) => ({
    step: row.step,
    line: row.line,
    sums: sumsOf(row, source),
  }));
}

type SummedRow = FigureSums["counts"] & { readonly [Sketch in LatencyColumn]: string | null } & {
  readonly step: number;
  readonly line: number;
};

/** `counts` is the row itself, which has more columns than those that are read of it. */
function sumsOf(counts: SummedRow, source: UsageRows): FigureSums {
  const sketches = {} as FigureSums["sketches"];
  for (const column of rollupSketches) sketches[column] = source.sketch(counts[column] ?? "");
  return { counts, sketches };
}

/** Without the row that it was read from. */
function lean({ counts, sketches }: FigureSums): FigureSums {
  const own = Object.fromEntries(rollupSums.map((column) => [column, counts[column]])) as FigureSums["counts"];
  return { counts: own, sketches };
}

/** null: no steps, and 1: every moment is one. */
function stepOf(eb: ExpressionBuilder<Tables, "usage_rollups">, stepMs: number | null): AliasableExpression<number> {
  if (stepMs === null) return sql<number>`0`;
  return stepMs === 1
    ? sql<number>`${eb.ref("hour")}`
    : sql<number>`${eb.ref("hour")} - ${eb.ref("hour")} % ${sql.lit(stepMs)}`;
}

/** Its place in `apart`, and for all others the number behind. */
function lineNumber(
  eb: ExpressionBuilder<Tables, "usage_rollups">,
  column: UsageColumn | null,
  apart: readonly string[],
): AliasableExpression<number> {
  const [first, ...more] = column === null ? [] : apart;
  if (column === null || first === undefined) return sql<number>`${sql.lit(apart.length)}`;
  let lines = eb.case().when(column, "=", first).then(sql.lit(0));
  for (const [index, id] of more.entries()) lines = lines.when(column, "=", id).then(sql.lit(index + 1));
  return lines.else(sql.lit(apart.length)).end();
}
