import { type AliasableExpression, type ExpressionBuilder, sql } from "kysely";
import { sketchOfText } from "../database/latency-sketch.ts";
import type { LatencyColumn, Tables } from "../database/schema.ts";
import type { RowPart, TimeSpan } from "../ledger/ledger-day-reading.ts";
import { rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import { type ReportContext, timeSlices } from "./report-context.ts";
import { addFigures, type FigureSums, noFigures, shortSketch } from "./report-figures.ts";
import type { UsageColumn, UsageRows } from "./report-usage-rows.ts";

export interface LineSums {
  /** Index in `ids`; its length means all others. */
  readonly index: number;
  readonly totals: FigureSums;
  readonly steps: Map<number, FigureSums>;
}

export interface LineQuery {
  /** null: the whole time as one step. */
  readonly stepMs: number | null;
  readonly column: UsageColumn | null;
  readonly ids: readonly string[];
  /** Read only `ids`. */
  readonly onlyIds?: boolean;
}

/** Sums by line and step. Past days come from the cache while their versions are the same. */
export async function sumsByLine(
  context: ReportContext,
  source: UsageRows,
  span: TimeSpan,
  lines: LineQuery,
): Promise<readonly LineSums[]> {
  const read = async (parts: readonly RowPart[]) => {
    const found: Lines = new Map();
    for (const part of parts) {
      await timeSlices(part.span, source.firstSliceMs, context.deadline, async (slice) => {
        for (const row of await rowsIn(context, source, { ...part, span: slice }, lines)) add(found, row);
      });
    }
    return found;
  };
  const covered = await source.clipToData(span);
  const past = source.past(covered, lines);
  const found = await read(source.restOf(covered, past));
  if (past !== null) {
    const readPast = () => read([{ span: past, isPast: true }]);
    const cached = await context.pastSums.find(JSON.stringify([source.question, lines]), past, readPast, bytesOf);
    for (const { index, steps } of cached.values()) for (const [at, sums] of steps) add(found, { index, at, sums });
  }
  return [...found.values()].sort((a, b) => a.index - b.index);
}

type Lines = Map<number, LineSums>;

interface LineRow {
  readonly index: number;
  readonly at: number;
  readonly sums: FigureSums;
}

function add(lines: Lines, { index, at, sums }: LineRow): void {
  let line = lines.get(index);
  if (line === undefined) {
    line = { index, totals: noFigures(), steps: new Map() };
    lines.set(index, line);
  }
  const step = line.steps.get(at) ?? noFigures();
  line.steps.set(at, step);
  addFigures(step, sums);
  addFigures(line.totals, sums);
}

const figureBytes = 500;

function bytesOf(lines: Lines): number {
  const steps = [...lines.values()].flatMap((line) => [line.totals, ...line.steps.values()]);
  const sketches = steps.flatMap((sums) => Object.values(sums.sketches));
  return sketches.reduce((all, sketch) => all + sketch.length, steps.length * figureBytes);
}

async function rowsIn(
  { flavour }: ReportContext,
  source: UsageRows,
  part: RowPart,
  { column, stepMs, ids, onlyIds = false }: LineQuery,
): Promise<readonly LineRow[]> {
  const all = source.within(part, { column, stepMs });
  const concatenated = (name: LatencyColumn) =>
    flavour.name === "sqlite"
      ? sql<string | null>`group_concat(${sql.ref(name)}, ${sql.lit(source.byHour ? "" : " ")})`
      : sql<string | null>`string_agg(${sql.ref(name)}::text, ${sql.lit(source.byHour ? "" : " ")})`;
  const rows = await (onlyIds && column !== null ? all.where(column, "in", ids) : all)
    .select((eb) => [
      // Without lines, group by hour: the rows are in that order and need no sorting.
      stepOf(eb, column === null && source.byHour ? 1 : stepMs).as("step"),
      ...rollupSums.map((name) => eb.fn.sum<number>(name).as(name)),
      ...rollupSketches.map((name) => concatenated(name).as(name)),
      lineNumber(eb, column, ids).as("line"),
    ])
    .groupBy(["step", "line"])
    .execute();
  return (rows as unknown as readonly SummedRow[]).map((row) => {
    const sketches = {} as FigureSums["sketches"];
    for (const name of rollupSketches) {
      const text = row[name] ?? "";
      sketches[name] = shortSketch(source.byHour ? text : text.split(" ").map(sketchOfText).join(""));
    }
    // `counts` is the row itself, with additional columns.
    return {
      index: row.line,
      at: stepMs === null ? 0 : row.step - (row.step % stepMs),
      sums: { counts: row, sketches },
    };
  });
}

type SummedRow = FigureSums["counts"] & { readonly [Sketch in LatencyColumn]: string | null } & {
  readonly step: number;
  readonly line: number;
};

/** null: no steps. 1: every moment. */
function stepOf(eb: ExpressionBuilder<Tables, "usage_rollups">, stepMs: number | null): AliasableExpression<number> {
  if (stepMs === null) return sql<number>`0`;
  return stepMs === 1
    ? sql<number>`${eb.ref("hour")}`
    : sql<number>`${eb.ref("hour")} - ${eb.ref("hour")} % ${sql.lit(stepMs)}`;
}

/** The index in `ids`, or their number for all others. */
function lineNumber(
  eb: ExpressionBuilder<Tables, "usage_rollups">,
  column: UsageColumn | null,
  ids: readonly string[],
): AliasableExpression<number> {
  const [first, ...more] = column === null ? [] : ids;
  if (column === null || first === undefined) return sql<number>`${sql.lit(ids.length)}`;
  let lines = eb.case().when(column, "=", first).then(sql.lit(0));
  for (const [index, id] of more.entries()) lines = lines.when(column, "=", id).then(sql.lit(index + 1));
  return lines.else(sql.lit(ids.length)).end();
}
