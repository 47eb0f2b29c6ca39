import type { UsageDimension } from "@sluice/contract/words";
import type { UsageFilter, UsageLine, UsageReport } from "#ports/index.ts";
import { FirstInOrder } from "../database/pages.ts";
import { chunksOf } from "../database/reconcile.ts";
import { dayMs, type TimeSpan } from "../ledger/ledger-grains.ts";
import { rollupSums } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext } from "./report-context.ts";
import { addFigures, type FigureSums, figuresOf, figuresWithout, noFigures } from "./report-figures.ts";
import { type IdQuery, sumsOfIds } from "./report-id-sums.ts";
import { type LineQuery, type LineSums, sumsByLine } from "./report-lines.ts";
import { namesIn, peopleNamed } from "./report-names.ts";
import { type UsageColumn, type UsageRows, usageRows } from "./report-usage-rows.ts";

/** For charts with steps below an hour, including the time before. */
const usageEntriesMax = 200_000;
const usageLimits = { entriesMax: usageEntriesMax };
/** Lines that are shown; all others together make one more. */
const linesMax = 9;

export const columnOf = {
  model: "model",
  provider: "provider",
  key: "key_id",
  group: "group_id",
  workspace: "workspace_id",
  person: "person_id",
  tag: "tag_value",
  user_agent: "user_agent",
  endpoint: "endpoint",
} as const satisfies Record<Exclude<UsageDimension, "none">, UsageColumn>;

/** Sums by step and one dimension. The time is widened to whole hours, or to whole steps below an hour. */
export async function usageReport(
  context: ReportContext,
  filter: UsageFilter,
  limits: Partial<typeof usageLimits> = {},
): Promise<UsageReport> {
  const manyGroups = filter.by === "key" || filter.by === "person";
  const all = { ...usageLimits, ...limits };
  return await inOneSnapshot(context, (snapshot) => readUsage(snapshot, filter, all), { manyGroups });
}

async function readUsage(
  context: ReportContext,
  filter: UsageFilter,
  limits: typeof usageLimits,
): Promise<UsageReport> {
  const source = await usageRows(context, filter, limits.entriesMax);
  const column = filter.by === "none" ? null : columnOf[filter.by];
  const ids = column === null ? [] : await mostExpensive({ context, source, column, filter });
  const zone = source.stepMs % dayMs === 0 ? filter.zone : undefined;
  const lines = { stepMs: source.stepMs, column, ids, zone };
  // There are too many keys to sum each: the rest is the total minus the shown lines.
  const takesAway = ids.length > 0 && column === "key_id" && source.byHour;
  const sums = await (takesAway ? linesAndRest : sumsByLine)(context, source, source.span, lines);
  const alone = { stepMs: source.stepMs, column: null, ids: [], zone };
  const [previous] = await sumsByLine(context, source, source.before, alone);
  const labels = await labelsOf(context, filter, ids);
  const totals = noFigures();
  for (const line of sums) addFigures(totals, line.totals);
  return {
    stepMs: source.stepMs,
    totals: figuresOf(totals),
    previous: figuresOf(previous?.totals ?? noFigures()),
    previousPeriod: source.before,
    previousPoints: previous === undefined ? [] : lineOf(previous).points,
    lines: sums.map((line) => ({ ...labels(line.index), ...lineOf(line) })),
  };
}

/** Ties are broken by attempts, then by id, so that the result does not depend on how it was found. */
async function mostExpensive(query: IdQuery): Promise<readonly string[]> {
  const sums = await sumsOfIds(query, query.source.span, { sums: ["cost_nano_usd", "attempts"] });
  const first = new FirstInOrder<number>(linesMax, (a, b) => {
    const [cost, attempts] = (["cost_nano_usd", "attempts"] as const).map(
      (name) => sums.sum(b, name) - sums.sum(a, name),
    );
    return cost || attempts || (sums.idOf(a) < sums.idOf(b) ? -1 : 1);
  });
  for (const number of sums.numbers) first.add(number);
  return first.items.map((number) => sums.idOf(number));
}

async function linesAndRest(
  context: ReportContext,
  source: UsageRows,
  span: TimeSpan,
  lines: LineQuery,
): Promise<readonly LineSums[]> {
  const [all] = await sumsByLine(context, source, span, { ...lines, column: null, ids: [] });
  const own = await sumsByLine(context, source, span, { ...lines, onlyIds: true });
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
  return [...own, { index: lines.ids.length, totals, steps }];
}

/** The usage of another model has a cost but is no attempt, and may be in another step. */
function isNothing({ counts }: FigureSums): boolean {
  return rollupSums.every((column) => counts[column] === 0);
}

function lineOf({ totals, steps }: LineSums): Pick<UsageLine, "totals" | "points"> {
  const points = [...steps].sort(([a], [b]) => a - b).map(([at, sums]) => ({ at, figures: figuresOf(sums) }));
  return { totals: figuresOf(totals), points };
}

/** Lines beyond the shown ones have an empty id. */
async function labelsOf(
  context: ReportContext,
  filter: UsageFilter,
  ids: readonly string[],
): Promise<(index: number) => Pick<UsageLine, "id" | "label">> {
  const label = await labelsById(context, filter, ids);
  return (index) => {
    const id = ids[index];
    if (id === undefined) return { id: "", label: filter.by === "none" ? "All" : "Others" };
    return { id: idShown(id), label: label(id) };
  };
}

/** An empty id means the rest, so calls without a value get another one. */
export function idShown(id: string): string {
  return id === "" ? "-" : id;
}

const noValue: Readonly<Partial<Record<UsageDimension, string>>> = {
  person: "No person",
  provider: "Refused before a provider was chosen",
  tag: "Without this tag",
  user_agent: "No user agent",
};

/** Names by id. Across workspaces, keys and groups are shown with their workspace. */
export async function labelsById(
  context: ReportContext,
  { by, workspaceId }: Pick<UsageFilter, "by" | "workspaceId">,
  ids: readonly string[],
): Promise<(id: string) => string> {
  const names = new Map<string, { readonly name: string; readonly workspace?: string }>();
  for (const chunk of chunksOf(ids, idsAtOnce)) {
    for (const [id, name] of await namesOfLines(context, by, chunk)) names.set(id, name);
  }
  return (id) => {
    if (id === "") return noValue[by] ?? "–";
    const { name, workspace = null } = names.get(id) ?? { name: id };
    return workspaceId === null && workspace !== null ? `${workspace}/${name}` : name;
  };
}

const idsAtOnce = 1_000;

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
