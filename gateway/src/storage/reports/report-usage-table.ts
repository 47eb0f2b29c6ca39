import type { UsageSort } from "@sluice/contract/words";
import { sql } from "kysely";
import { bounds, usageClassColumns } from "#core/index.ts";
import type { Chargeback, ChargebackFilter, UsageRow, UsageRowsFilter, UsageRowsPage } from "#ports/index.ts";
import { type SortPosition, sortedPage } from "../database/pages.ts";
import type { LatencyColumn } from "../database/schema.ts";
import { inputColumns, outputColumns } from "../ledger/ledger-columns.ts";
import type { RowPart } from "../ledger/ledger-day-reading.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import { hourMs, rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext, timeSlices } from "./report-context.ts";
import { addFigures, type FigureSums, figuresOf, joinedTexts, noFigures, shortSketch } from "./report-figures.ts";
import { type IdQuery, type IdSums, type SumName, sumsOfIds, type WantedSums } from "./report-id-sums.ts";
import { sumsByLine } from "./report-lines.ts";
import { columnOf, idShown, labelsById } from "./report-usage.ts";
import { hideOtherPeople, usageRows } from "./report-usage-rows.ts";

/**
 * One page of all values of a dimension. The figures that decide the order are summed for all values, the others for one page,
 * and the totals separately, so that they contain what the viewer may not see.
 */
export async function usageTable(
  context: ReportContext,
  filter: UsageRowsFilter,
  cursor: string | null,
  limit: number,
): Promise<UsageRowsPage> {
  return await inOneSnapshot(context, (snapshot) => readTable(snapshot, filter, cursor, limit), { manyGroups: true });
}

async function readTable(
  context: ReportContext,
  { search = "", sort, compared, ...filter }: UsageRowsFilter,
  cursor: string | null,
  limit: number,
): Promise<UsageRowsPage> {
  const scope = { ...filter, stepMs: hourMs, ...(compared === undefined ? {} : { compared }) };
  const source = await usageRows(context, scope, 0);
  const query = { context, source, filter: scope, column: columnOf[filter.by] };
  const all = await sumsOfIds(query, source.span, sortedBy(sort));
  const needsLabels = search !== "" || sort.endsWith("label");
  const label = await labelsById(context, scope, needsLabels ? all.numbers.map((number) => all.idOf(number)) : []);
  const words = search.toLowerCase();
  const found = all.numbers.filter((number) => search === "" || label(all.idOf(number)).toLowerCase().includes(words));
  const sortValueOf = sortValue(sort, all, label);
  const positionOf = (number: number) => ({ id: all.idOf(number), value: sortValueOf(number) });
  const { page, next } = sortedPage(found, positionOf, { sort, cursor, limit });
  const only = page.map((number) => all.idOf(number));
  const figures = await figuresByIds(query, source.span, only);
  const previous = compared === undefined ? null : await figuresByIds(query, source.before, only);
  const labels = needsLabels ? label : await labelsById(context, scope, only);
  const once = { stepMs: null, column: null, ids: [] };
  const [totals] = await sumsByLine(context, source, source.span, once);
  const [totalsBefore] = compared === undefined ? [] : await sumsByLine(context, source, source.before, once);
  return {
    data: only.map((id): UsageRow => {
      const sums = figures.get(id) ?? noFigures();
      return {
        id: idShown(id),
        label: labels(id),
        figures: figuresOf(sums),
        costNanoUsd: sums.counts.cost_nano_usd,
        previous: previous === null ? null : figuresOf(previous.get(id) ?? noFigures()),
      };
    }),
    next,
    count: found.length,
    totals: figuresOf(totals?.totals ?? noFigures()),
    costNanoUsd: totals?.totals.counts.cost_nano_usd ?? 0,
    previous: compared === undefined ? null : figuresOf(totalsBefore?.totals ?? noFigures()),
  };
}

type FiguresById = ReadonlyMap<string, FigureSums>;

/** All figures of a few ids. Past days are cached. */
async function figuresByIds(query: IdQuery, span: TimeSpan, only: readonly string[]): Promise<FiguresById> {
  const { context, source, column } = query;
  if (only.length === 0) return new Map();
  const read = async (parts: readonly RowPart[]): Promise<Map<string, FigureSums>> => {
    const found = new Map<string, FigureSums>();
    for (const part of parts) {
      await timeSlices(part.span, source.firstSliceMs, context.deadline, async (slice) => {
        for (const [id, sums] of await figuresIn(query, { ...part, span: slice }, only)) addTo(found, id, sums);
      });
    }
    return found;
  };
  const covered = await source.clipToData(span);
  const past = source.past(covered, column);
  const found = await read(source.restOf(covered, past));
  const question = JSON.stringify([source.question, column, "rows", only]);
  for (const time of past) {
    const readPast = () => read([{ span: time, isPast: true }]);
    const cached = await context.pastSums.find(question, time, readPast, (sums) => sums.size * rowBytes);
    for (const [id, sums] of cached) addTo(found, id, sums);
  }
  return found;
}

/** Approximate size of a cached row. */
const rowBytes = 1_000;

function addTo(found: Map<string, FigureSums>, id: string, more: FigureSums): void {
  const sum = found.get(id);
  if (sum === undefined) found.set(id, { counts: { ...more.counts }, sketches: { ...more.sketches } });
  else addFigures(sum, more);
}

async function figuresIn(
  { context, source, filter, column }: IdQuery,
  part: RowPart,
  only: readonly string[],
): Promise<readonly (readonly [string, FigureSums])[]> {
  const rows = await hideOtherPeople(source.within(part, { column, stepMs: null }), column, filter)
    .where(sql.ref<string>(column), "in", only)
    .select(sql<string>`${sql.ref(column)}`.as("id"))
    .select((eb) => rollupSums.map((name) => eb.fn.sum<number>(name).as(name)))
    .select(rollupSketches.map((name) => joinedTexts(context, name, "").as(name)))
    .groupBy(sql.ref(column))
    .execute();
  return (rows as unknown as readonly SummedRow[]).map(({ id, ...row }) => {
    const { counts, sketches } = noFigures();
    for (const name of rollupSums) counts[name] = row[name] ?? 0;
    for (const name of rollupSketches) sketches[name] = shortSketch(row[name] ?? "");
    return [id, { counts, sketches }];
  });
}

type SummedRow = { readonly id: string } & { readonly [Name in SumName]?: number } & {
  readonly [Sketch in LatencyColumn]?: string | null;
};

const tokenColumns = [...inputColumns, ...outputColumns];
const reasoningColumns: readonly SumName[] = ["reasoning", "separate_reasoning"];
const failures: readonly SumName[] = ["requests", "succeeded", "cancelled"];
const cachedColumns = [usageClassColumns.cacheRead, usageClassColumns.cacheReadAudio];

/** The sums that decide the order. A query must read at least one. */
function sortedBy(sort: UsageSort): WantedSums {
  const name = orderOf(sort);
  const sketch = sketchOf(name);
  if (sketch !== null) return { sums: ["attempts"], sketch };
  const sums = {
    cost_usd: ["cost_nano_usd"],
    requests: ["requests"],
    tokens: tokenColumns,
    cache_read_share: inputColumns,
    cache_saved_usd: ["cache_saved_nano_usd"],
    reasoning_tokens: reasoningColumns,
    reasoning_share: [...new Set([...outputColumns, ...reasoningColumns])],
    failed_requests: failures,
    error_rate: failures,
  } as const satisfies Record<string, readonly SumName[]>;
  return { sums: sums[name as keyof typeof sums] ?? ["attempts"] };
}

function orderOf(sort: UsageSort): string {
  return sort.startsWith("-") ? sort.slice(1) : sort;
}

function sketchOf(order: string): LatencyColumn | null {
  if (!order.startsWith("request_")) return null;
  return order.includes("first_token") ? "call_first_token_ms_sketch" : "call_ms_sketch";
}

/** The same figures as `figuresOf`, without the others, by the number of an id. */
function sortValue(
  sort: UsageSort,
  all: IdSums,
  label: (id: string) => string,
): (number: number) => SortPosition["value"] {
  const name = orderOf(sort);
  const added = (of: number, columns: readonly SumName[]) =>
    columns.reduce((sum, column) => sum + all.sum(of, column), 0);
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);
  const failed = (of: number) =>
    Math.max(0, all.sum(of, "requests") - all.sum(of, "succeeded") - all.sum(of, "cancelled"));
  if (sketchOf(name) !== null) return (of) => all.percentile(of, name.includes("p95") ? 0.95 : 0.5);
  if (name === "label") return (of) => label(all.idOf(of)).toLowerCase();
  if (name === "tokens") return (of) => added(of, tokenColumns);
  if (name === "cache_read_share") return (of) => share(added(of, cachedColumns), added(of, inputColumns));
  if (name === "cache_saved_usd") return (of) => all.sum(of, "cache_saved_nano_usd");
  if (name === "reasoning_tokens") return (of) => added(of, reasoningColumns);
  if (name === "reasoning_share") {
    return (of) => {
      const part = share(added(of, reasoningColumns), added(of, outputColumns));
      return part === null ? null : Math.min(1, part);
    };
  }
  if (name === "failed_requests") return failed;
  if (name === "error_rate") return (of) => share(failed(of), all.sum(of, "requests"));
  return (of) => all.sum(of, name === "requests" ? "requests" : "cost_nano_usd");
}

/** Cost by month. Rows beyond the bound are added up in a last one, so that the totals are the sums of the rows. */
export async function chargeback(context: ReportContext, filter: ChargebackFilter): Promise<Chargeback> {
  return await inOneSnapshot(context, (snapshot) => readChargeback(snapshot, filter), { manyGroups: true });
}

const costs: WantedSums = { sums: ["cost_nano_usd"] };

async function readChargeback(context: ReportContext, { months, ...filter }: ChargebackFilter): Promise<Chargeback> {
  const rows = new Map<string, number[]>();
  for (const [place, { from, to }] of months.entries()) {
    const scope = { ...filter, from, to, stepMs: hourMs };
    const source = await usageRows(context, scope, 0);
    const query = { context, source, filter: scope, column: columnOf[filter.by] };
    const sums = await sumsOfIds(query, source.span, costs);
    for (const number of sums.numbers) {
      const id = sums.idOf(number);
      const row = rows.get(id) ?? months.map(() => 0);
      rows.set(id, row);
      row[place] = sums.sum(number, "cost_nano_usd");
    }
  }
  const sumOf = (costs: readonly number[]) => costs.reduce((all, cost) => all + cost, 0);
  const ordered = [...rows].sort(([a, one], [b, other]) => sumOf(other) - sumOf(one) || (a < b ? -1 : 1));
  const shown = ordered.slice(0, bounds.reportRowsMax);
  const rest = ordered.slice(bounds.reportRowsMax).map(([, costs]) => costs);
  const label = await labelsById(
    context,
    filter,
    shown.map(([id]) => id),
  );
  const added = (all: readonly (readonly number[])[]) =>
    months.map((_, place) => sumOf(all.map((each) => each[place] ?? 0)));
  return {
    data: [
      ...shown.map(([id, costNanoUsd]) => ({ id: idShown(id), label: label(id), costNanoUsd })),
      ...(rest.length === 0 ? [] : [{ id: "", label: "Others", costNanoUsd: added(rest) }]),
    ],
    totals: added([...rows.values()]),
  };
}

const tagNamesMax = 200;

/** Names of the tags of a time. */
export async function usageTags(
  context: ReportContext,
  { workspaceId, from, to }: { readonly workspaceId: string | null } & TimeSpan,
): Promise<readonly string[]> {
  return await inOneSnapshot(context, async (snapshot) => {
    const filter = { workspaceId, from, to, stepMs: hourMs, by: "none" as const };
    const source = await usageRows(snapshot, filter, 0);
    const span = await source.clipToData(source.span);
    const rows = await source
      .within({ span }, { column: "tags", stepMs: null, summed: [] })
      .select(sql<string>`tags`.as("tags"))
      .where(sql<string>`tags`, "!=", "")
      .distinct()
      .limit(tagSetsMax)
      .execute();
    const names = new Set(rows.flatMap(({ tags }) => Object.keys(JSON.parse(tags) as object)));
    return [...names].sort().slice(0, tagNamesMax);
  });
}

const tagSetsMax = 5_000;
