import type { UsageDimension } from "@sluice/contract/words";
import { type AliasableExpression, type ExpressionBuilder, sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { UsageFilter, UsageLine, UsageReading } from "#ports/index.ts";
import { inSnapshot } from "../database/database.ts";
import type { HistogramColumns } from "../database/latency-histogram.ts";
import type { LatencyColumn } from "../database/report-tables.ts";
import type { Tables } from "../database/schema.ts";
import type { TimeSpan } from "../ledger/ledger-day-reading.ts";
import { rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-desk.ts";
import {
  addFigures,
  everyHistogramColumn,
  type FigureSums,
  figuresOf,
  figuresWithout,
  noFigures,
} from "./report-figures.ts";
import { peopleNamed } from "./report-people.ts";
import { timeSlices } from "./report-slices.ts";
import { type UsageRows, usageRows, withoutOthers } from "./report-usage-rows.ts";

/** Lines that are shown apart; the others together make one more. */
const linesMax = 9;

const columnOf = {
  model: "model",
  provider: "provider",
  key: "key_id",
  group: "group_id",
  workspace: "workspace_id",
  person: "person_id",
} as const satisfies Record<Exclude<UsageDimension, "none">, string>;
type Column = (typeof columnOf)[keyof typeof columnOf];

/** Sums over a time, by its steps and by one dimension. A time is widened to whole hours, or to whole steps below. */
export async function usageReading(
  { connection, ...context }: ReportContext,
  filter: UsageFilter,
  entriesMax: number = bounds.usageEntriesMax,
): Promise<UsageReading> {
  // Which days are summed, their sums and those of hours are of one moment.
  return await inSnapshot({ reading: connection }, async (snapshot) => {
    // Tens of thousands of keys are summed side by side; with what a server allows by default they would go through its disk.
    if (context.flavour.name === "postgres" && (filter.by === "key" || filter.by === "person")) {
      await sql`set local work_mem = ${sql.lit(`${bounds.reportWorkMemoryMb}MB`)}`.execute(snapshot);
    }
    return await readUsage({ ...context, connection: snapshot }, filter, entriesMax);
  });
}

async function readUsage(context: ReportContext, filter: UsageFilter, entriesMax: number): Promise<UsageReading> {
  const rows = await usageRows(context, filter, entriesMax);
  const column = filter.by === "none" ? null : columnOf[filter.by];
  const apart = column === null ? [] : await dearest(context, rows, column, filter);
  const lines = { stepMs: rows.stepMs, column, apart };
  const sums = await (apart.length > 0 && mayTakeAway(rows, column) ? linesAndRest : sumsByLine)(
    context,
    rows,
    rows.span,
    lines,
  );
  const once = { stepMs: null, column: null, apart: [] };
  const [previous = noFigures()] = (await sumsByLine(context, rows, rows.before, once)).map(({ totals }) => totals);
  const labels = await labelsOf(context, filter, apart);
  const totals = noFigures();
  for (const line of sums) addFigures(totals, line.totals);
  return {
    stepMs: rows.stepMs,
    totals: figuresOf(totals),
    previous: figuresOf(previous),
    lines: sums.map((line) => ({ ...labels(line.index), ...lineOf(line) })),
  };
}

/** Of keys there are too many to read each of them only to say what all but nine have used: that is what is left of the whole. */
function mayTakeAway(rows: UsageRows, column: Column | null): boolean {
  return column === "key_id" && rows.byHour && !rows.hasHistograms(rows.span);
}

async function linesAndRest(
  context: ReportContext,
  source: UsageRows,
  span: TimeSpan,
  lines: Apart,
): Promise<readonly LineSums[]> {
  const { stepMs, apart } = lines;
  const [all] = await sumsByLine(context, source, span, { stepMs, column: null, apart: [] });
  const own = await sumsByLine(context, source, span, { ...lines, alone: true });
  if (all === undefined) return own;
  const totals = figuresWithout(
    all.totals,
    own.map((line) => line.totals),
  );
  if (totals.counts.attempts === 0) return own;
  const steps = new Map<number, FigureSums>();
  for (const [at, sums] of all.steps) {
    const rest = figuresWithout(
      sums,
      own.flatMap((line) => line.steps.get(at) ?? []),
    );
    if (rest.counts.attempts > 0) steps.set(at, rest);
  }
  return [...own, { index: apart.length, totals, steps }];
}

interface LineSums {
  /** In `apart`; its length stands for the rest. */
  readonly index: number;
  readonly totals: FigureSums;
  readonly steps: Map<number, FigureSums>;
}

function lineOf({ totals, steps }: LineSums): Pick<UsageLine, "totals" | "points"> {
  const points = [...steps].sort(([a], [b]) => a - b).map(([at, sums]) => ({ at, figures: figuresOf(sums) }));
  return { totals: figuresOf(totals), points };
}

/** What cost most, and of equals what was called most. */
async function dearest(
  context: ReportContext,
  source: UsageRows,
  column: Column,
  filter: UsageFilter,
): Promise<readonly string[]> {
  const sums = new Map<string, { nano: number; attempts: number }>();
  await timeSlices(await source.covered(source.span), source.firstSliceMs, context.deadline, async (slice) => {
    const rollups = source.within(slice, { column, stepMs: null, summed: ["cost_nano_usd", "attempts"] });
    const query = withoutOthers(rollups, column, filter)
      .select((eb) => sql<string>`${eb.ref(column)}`.as("id"))
      .select((eb) => [eb.fn.sum<number>("cost_nano_usd").as("nano"), eb.fn.sum<number>("attempts").as("attempts")])
      .groupBy(column);
    // Where one statement reads all of it, the others need not be sent.
    const whole = source.firstSliceMs === Number.POSITIVE_INFINITY;
    const rows = await (whole
      ? query.orderBy("nano", "desc").orderBy("attempts", "desc").limit(linesMax)
      : query
    ).execute();
    for (const { id, nano, attempts } of rows) {
      const sum = sums.get(id);
      if (sum === undefined) sums.set(id, { nano, attempts });
      else {
        sum.nano += nano;
        sum.attempts += attempts;
      }
    }
  });
  const sorted = [...sums].sort(([, a], [, b]) => b.nano - a.nano || b.attempts - a.attempts);
  return sorted.slice(0, linesMax).map(([id]) => id);
}

interface Apart {
  /** null: all of the time at once. */
  readonly stepMs: number | null;
  readonly column: Column | null;
  readonly apart: readonly string[];
  /** Of those apart only. */
  readonly alone?: boolean;
}

async function sumsByLine(
  context: ReportContext,
  source: UsageRows,
  span: TimeSpan,
  { stepMs, column, apart, alone = false }: Apart,
): Promise<readonly LineSums[]> {
  const lines = new Map<number, LineSums>();
  await timeSlices(await source.covered(span), source.firstSliceMs, context.deadline, async (slice) => {
    const histograms = source.hasHistograms(slice) ? everyHistogramColumn : [];
    const given = source.within(slice, { column, stepMs });
    const rows = await (alone && column !== null ? given.where(column, "in", apart) : given)
      .select((eb) => [
        // Without lines, hours are summed as they come and need not be sorted.
        stepOf(eb, column === null && source.byHour ? 1 : stepMs).as("step"),
        ...[...rollupSums, ...histograms].map((name) => eb.fn.sum<number>(name).as(name)),
        ...rollupSketches.map((name) => source.times(name).as(name)),
        lineNumber(eb, column, apart).as("line"),
      ])
      .groupBy(["step", "line"])
      .execute();
    for (const row of rows as readonly SummedRow[]) {
      const { step: first, line: index } = row;
      const sums = sumsOf(row, source, histograms);
      const at = stepMs === null ? span.from : first - (first % stepMs);
      let line = lines.get(index);
      if (line === undefined) {
        line = { index, totals: noFigures(), steps: new Map() };
        lines.set(index, line);
      }
      const step = line.steps.get(at);
      if (step === undefined) line.steps.set(at, sums);
      else addFigures(step, sums);
      addFigures(line.totals, sums);
    }
  });
  return [...lines.values()].sort((a, b) => a.index - b.index);
}

type SummedRow = FigureSums["counts"] &
  Partial<HistogramColumns> & { readonly [Sketch in LatencyColumn]: string | null } & {
    readonly step: number;
    readonly line: number;
  };

/** `counts` is the row itself, which has more columns than those that are read of it. */
function sumsOf(counts: SummedRow, source: UsageRows, histograms: typeof everyHistogramColumn): FigureSums {
  const sketches = {} as FigureSums["sketches"];
  for (const column of rollupSketches) sketches[column] = source.sketch(counts[column] ?? "");
  if (!histograms.some((column) => (counts[column] ?? 0) > 0)) return { counts, sketches, histogram: null };
  const histogram = Object.fromEntries(histograms.map((column) => [column, counts[column]]));
  return { counts, sketches, histogram: histogram as HistogramColumns };
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
  column: Column | null,
  apart: readonly string[],
): AliasableExpression<number> {
  const [first, ...more] = column === null ? [] : apart;
  if (column === null || first === undefined) return sql<number>`${sql.lit(apart.length)}`;
  let lines = eb.case().when(column, "=", first).then(sql.lit(0));
  for (const [index, id] of more.entries()) lines = lines.when(column, "=", id).then(sql.lit(index + 1));
  return lines.else(sql.lit(apart.length)).end();
}

interface Label {
  readonly id: string;
  readonly label: string;
}

/** Names by line. Across workspaces a key or group is told with its workspace. */
async function labelsOf(
  context: ReportContext,
  { by, workspaceId }: UsageFilter,
  apart: readonly string[],
): Promise<(index: number) => Label> {
  const rest = { id: "", label: by === "none" ? "All" : "Others" };
  const named = await namesOfLines(context, by, apart);
  return (index) => {
    const id = apart[index];
    if (id === undefined) return rest;
    // An empty id stands for the rest; the provider of a refused call is empty too.
    if (id === "") return { id: noneId, label: by === "person" ? nobody : "Refused before a provider was chosen" };
    const { name, workspace } = named(id);
    return { id, label: workspaceId === null && workspace !== null ? `${workspace}/${name}` : name };
  };
}

const noneId = "-";
const nobody = "No person";

interface LineName {
  readonly name: string;
  readonly workspace: string | null;
}

async function namesOfLines(
  { connection }: ReportContext,
  by: UsageDimension,
  ids: readonly string[],
): Promise<(id: string) => LineName> {
  const known = new Map<string, LineName>();
  if (ids.length > 0 && (by === "key" || by === "group")) {
    const table = by === "key" ? ("api_keys" as const) : ("groups" as const);
    const rows = await connection
      .selectFrom(table)
      .innerJoin("workspaces", "workspaces.id", `${table}.workspace_id`)
      .select([`${table}.id`, `${table}.name`, "workspaces.slug as workspace"])
      .where(`${table}.id`, "in", ids)
      .execute();
    for (const { id, name, workspace } of rows) known.set(id, { name, workspace });
  }
  if (ids.length > 0 && by === "workspace") {
    const rows = await connection.selectFrom("workspaces").select(["id", "slug"]).where("id", "in", ids).execute();
    for (const { id, slug } of rows) known.set(id, { name: slug, workspace: null });
  }
  if (by === "person") {
    for (const { id, email } of await peopleNamed(connection, ids)) known.set(id, { name: email, workspace: null });
  }
  return (id) => known.get(id) ?? { name: id, workspace: null };
}
