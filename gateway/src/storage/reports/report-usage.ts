import type { UsageDimension } from "@sluice/contract/words";
import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { UsageFilter, UsageLine, UsageReading } from "#ports/index.ts";
import { inSnapshot } from "../database/database.ts";
import type { TimeSpan } from "../ledger/ledger-day-reading.ts";
import { rollupSums } from "../ledger/ledger-rollup.ts";
import { dearest } from "./report-dearest.ts";
import type { ReportContext } from "./report-desk.ts";
import { addFigures, type FigureSums, figuresOf, figuresWithout, noFigures } from "./report-figures.ts";
import { type Apart, type LineSums, sumsByLine } from "./report-lines.ts";
import { peopleNamed } from "./report-names.ts";
import { type UsageColumn, type UsageRows, usageRows } from "./report-usage-rows.ts";

/** Entries that a chart by minutes is read from, with those of the time before. */
const usageEntriesMax = 200_000;

const columnOf = {
  model: "model",
  provider: "provider",
  key: "key_id",
  group: "group_id",
  workspace: "workspace_id",
  person: "person_id",
} as const satisfies Record<Exclude<UsageDimension, "none">, UsageColumn>;

/** Sums over a time, by its steps and by one dimension. A time is widened to whole hours, or to whole steps below. */
export async function usageReading(
  { connection, ...context }: ReportContext,
  filter: UsageFilter,
  entriesMax: number = usageEntriesMax,
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
function mayTakeAway(rows: UsageRows, column: UsageColumn | null): boolean {
  return column === "key_id" && rows.byHour;
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
  if (isNothing(totals)) return own;
  const steps = new Map<number, FigureSums>();
  for (const [at, sums] of all.steps) {
    const rest = figuresWithout(
      sums,
      own.flatMap((line) => line.steps.get(at) ?? []),
    );
    if (!isNothing(rest)) steps.set(at, rest);
  }
  return [...own, { index: apart.length, totals, steps }];
}

/** What was used beside an attempt costs and is no attempt, and may stand in another step than that. */
function isNothing({ counts }: FigureSums): boolean {
  return rollupSums.every((column) => counts[column] === 0);
}

function lineOf({ totals, steps }: LineSums): Pick<UsageLine, "totals" | "points"> {
  const points = [...steps].sort(([a], [b]) => a - b).map(([at, sums]) => ({ at, figures: figuresOf(sums) }));
  return { totals: figuresOf(totals), points };
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
