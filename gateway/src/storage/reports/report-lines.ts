import { type AliasableExpression, type Expression, type ExpressionBuilder, type RawBuilder, sql } from "kysely";
import type { ZoneOffset } from "#ports/index.ts";
import { sketchOfText } from "../database/latency-sketch.ts";
import type { LatencyColumn, Tables } from "../database/schema.ts";
import type { RowPart } from "../ledger/ledger-day-reading.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import { rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import { type ReportContext, timeSlices } from "./report-context.ts";
import { addFigures, type FigureSums, joinedTexts, noFigures, shortSketch } from "./report-figures.ts";
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
  /** For steps of local days, see `UsageFilter`. */
  readonly zone?: readonly ZoneOffset[] | undefined;
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
  const past = source.past(covered, lines.column);
  const found = await read(source.restOf(covered, past));
  for (const time of past) {
    const readPast = () => read([{ span: time, isPast: true }]);
    const cached = await context.pastSums.find(JSON.stringify([source.question, lines]), time, readPast, bytesOf);
    for (const line of cached.values()) addLine(found, line);
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

/** The line is not modified. */
function addLine(lines: Lines, { index, totals, steps }: LineSums): void {
  const line = lines.get(index) ?? { index, totals: noFigures(), steps: new Map() };
  lines.set(index, line);
  addFigures(line.totals, totals);
  for (const [at, sums] of steps) {
    const step = line.steps.get(at);
    if (step === undefined) line.steps.set(at, { counts: { ...sums.counts }, sketches: { ...sums.sketches } });
    else addFigures(step, sums);
  }
}

const figureBytes = 500;

function bytesOf(lines: Lines): number {
  const steps = [...lines.values()].flatMap((line) => [line.totals, ...line.steps.values()]);
  const sketches = steps.flatMap((sums) => Object.values(sums.sketches));
  return sketches.reduce((all, sketch) => all + sketch.length, steps.length * figureBytes);
}

async function rowsIn(
  context: ReportContext,
  source: UsageRows,
  part: RowPart,
  { column, stepMs, ids, onlyIds = false, zone }: LineQuery,
): Promise<readonly LineRow[]> {
  const all = source.within(part, { column, stepMs });
  const rows = await (onlyIds && column !== null ? all.where(sql.ref<string>(column), "in", ids) : all)
    .select((eb) => [
      // Without lines, group by hour: the rows are in that order and need no sorting.
      stepOf(eb, column === null && source.byHour ? 1 : stepMs, zone).as("step"),
      ...rollupSums.map((name) => eb.fn.sum<number>(name).as(name)),
      ...rollupSketches.map((name) => joinedTexts(context, name, source.byHour ? "" : " ").as(name)),
      lineNumber(column, ids).as("line"),
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
      at: stepMs === null ? 0 : stepIn(row.step, stepMs, column === null && source.byHour ? zone : undefined),
      sums: { counts: row, sketches },
    };
  });
}

type SummedRow = FigureSums["counts"] & { readonly [Sketch in LatencyColumn]: string | null } & {
  readonly step: number;
  readonly line: number;
};

/** null: no steps. 1: every moment. */
function stepOf(
  eb: ExpressionBuilder<Tables, "usage_rollups">,
  stepMs: number | null,
  zone: readonly ZoneOffset[] | undefined,
): AliasableExpression<number> {
  if (stepMs === null) return sql<number>`0`;
  const hour = eb.ref("hour");
  if (stepMs === 1) return sql<number>`${hour}`;
  const local = zone === undefined ? sql<number>`${hour}` : sql<number>`(${hour} + ${offsetAt(hour, zone)})`;
  return sql<number>`${local} - ${local} % ${sql.lit(stepMs)}`;
}

function offsetAt(hour: Expression<number>, zone: readonly ZoneOffset[]): RawBuilder<number> {
  const before = zone.slice(0, -1);
  const last = sql.lit(zone.at(-1)?.offsetMs ?? 0);
  if (before.length === 0) return sql`${last}`;
  const cases = before.map(({ until, offsetMs }) => sql`when ${hour} < ${sql.lit(until)} then ${sql.lit(offsetMs)}`);
  return sql`case ${sql.join(cases, sql` `)} else ${last} end`;
}

/** The same for a moment that was read. */
function stepIn(moment: number, stepMs: number, zone: readonly ZoneOffset[] | undefined): number {
  const offset = zone === undefined ? 0 : ((zone.find(({ until }) => moment < until) ?? zone.at(-1))?.offsetMs ?? 0);
  return moment + offset - ((moment + offset) % stepMs);
}

/** The index in `ids`, or their number for all others. */
function lineNumber(column: UsageColumn | null, ids: readonly string[]): AliasableExpression<number> {
  if (column === null || ids.length === 0) return sql<number>`${sql.lit(ids.length)}`;
  const name = sql.ref(column);
  const cases = ids.map((id, index) => sql`when ${name} = ${id} then ${sql.lit(index)}`);
  return sql<number>`case ${sql.join(cases, sql` `)} else ${sql.lit(ids.length)} end`;
}
