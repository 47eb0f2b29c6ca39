import type { UsageDimension } from "@sluice/contract/words";
import type { UsageFilter, UsageLine, UsageReading } from "#ports/index.ts";
import type { TimeSpan } from "../ledger/ledger-day-reading.ts";
import { rollupSums } from "../ledger/ledger-rollup.ts";
import { ofOneMoment, type ReportContext } from "./report-context.ts";
import { dearest, dearestLimits } from "./report-dearest.ts";
import { addFigures, type FigureSums, figuresOf, figuresWithout, noFigures } from "./report-figures.ts";
import { type Apart, type LineSums, sumsByLine } from "./report-lines.ts";
import { namesIn, peopleNamed } from "./report-names.ts";
import { type UsageColumn, type UsageRows, usageRows } from "./report-usage-rows.ts";

/** Entries that a chart by minutes is read from, with those of the time before. */
const usageEntriesMax = 200_000;
const usageLimits = { entriesMax: usageEntriesMax, ...dearestLimits };

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
  context: ReportContext,
  filter: UsageFilter,
  limits: Partial<typeof usageLimits> = {},
): Promise<UsageReading> {
  const manyGroups = filter.by === "key" || filter.by === "person";
  const all = { ...usageLimits, ...limits };
  return await ofOneMoment(context, (snapshot) => readUsage(snapshot, filter, all), { manyGroups });
}

async function readUsage(
  context: ReportContext,
  filter: UsageFilter,
  limits: typeof usageLimits,
): Promise<UsageReading> {
  const source = await usageRows(context, filter, limits.entriesMax);
  const column = filter.by === "none" ? null : columnOf[filter.by];
  const apart = column === null ? [] : await dearest({ context, source, column, filter }, limits);
  const lines = { stepMs: source.stepMs, column, apart };
  // Of keys there are too many to read each of them only to say what all but nine have used: that is what is left of the whole.
  const takesAway = apart.length > 0 && column === "key_id" && source.byHour;
  const sums = await (takesAway ? linesAndRest : sumsByLine)(context, source, source.span, lines);
  const once = { stepMs: null, column: null, apart: [] };
  const [previous] = await sumsByLine(context, source, source.before, once);
  const labels = await labelsOf(context, filter, apart);
  const totals = noFigures();
  for (const line of sums) addFigures(totals, line.totals);
  return {
    stepMs: source.stepMs,
    totals: figuresOf(totals),
    previous: figuresOf(previous?.totals ?? noFigures()),
    lines: sums.map((line) => ({ ...labels(line.index), ...lineOf(line) })),
  };
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

/** Names by line. Across workspaces a key or group is told with its workspace. */
async function labelsOf(
  context: ReportContext,
  { by, workspaceId }: UsageFilter,
  apart: readonly string[],
): Promise<(index: number) => Pick<UsageLine, "id" | "label">> {
  const names = await namesOfLines(context, by, apart);
  return (index) => {
    const id = apart[index];
    if (id === undefined) return { id: "", label: by === "none" ? "All" : "Others" };
    // An empty id stands for the rest; the provider of a refused call is empty too.
    if (id === "") return { id: "-", label: by === "person" ? "No person" : "Refused before a provider was chosen" };
    const { name, workspace = null } = names.get(id) ?? { name: id };
    return { id, label: workspaceId === null && workspace !== null ? `${workspace}/${name}` : name };
  };
}

async function namesOfLines({ connection }: ReportContext, by: UsageDimension, ids: readonly string[]) {
  const names = new Map<string, { readonly name: string; readonly workspace?: string }>();
  if (ids.length === 0) return names;
  if (by === "key" || by === "group") {
    const table = by === "key" ? ("api_keys" as const) : ("groups" as const);
    const rows = await connection
      .selectFrom(table)
      .innerJoin("workspaces", "workspaces.id", `${table}.workspace_id`)
      .select([`${table}.id`, `${table}.name`, "workspaces.slug as workspace"])
      .where(`${table}.id`, "in", ids)
      .execute();
    for (const { id, ...named } of rows) names.set(id, named);
  }
  if (by === "workspace") {
    for (const [id, name] of await namesIn(connection, "workspaces", ids)) names.set(id, { name });
  }
  if (by === "person") for (const { id, email } of await peopleNamed(connection, ids)) names.set(id, { name: email });
  return names;
}
