import type { UsageFigures } from "@sluice/contract/console";
import type { UsageSort } from "@sluice/contract/words";
import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Chargeback, ChargebackFilter, UsageRow, UsageRowsFilter, UsageRowsPage } from "#ports/index.ts";
import { type SortPosition, sortedPage } from "../database/pages.ts";
import type { LatencyColumn } from "../database/schema.ts";
import { inputColumns, outputColumns } from "../ledger/ledger-columns.ts";
import type { RowPart, TimeSpan } from "../ledger/ledger-day-reading.ts";
import { hourMs, rollupSketches, rollupSums } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext, timeSlices } from "./report-context.ts";
import { addFigures, type FigureSums, figuresOf, joinedTexts, noFigures, shortSketch } from "./report-figures.ts";
import { sumsByLine } from "./report-lines.ts";
import { columnOf, idShown, labelsById } from "./report-usage.ts";
import { hideOtherPeople, type UsageColumn, type UsageRows, usageRows } from "./report-usage-rows.ts";

type Sum = (typeof rollupSums)[number];

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
  const all = await sumsById(query, source.span, sortedBy(sort));
  const ids = [...all.keys()];
  const needsLabels = search !== "" || sort.endsWith("label");
  const label = await labelsById(context, scope, needsLabels ? ids : []);
  const words = search.toLowerCase();
  const found = ids.filter((id) => search === "" || label(id).toLowerCase().includes(words));
  const positionOf = (id: string) => ({ id, value: sortValue(sort, id, all.get(id) as FigureSums, label) });
  const { page: only, next } = sortedPage(found, positionOf, { sort, cursor, limit });
  const figures = await sumsById(query, source.span, { only });
  const previous = compared === undefined ? null : await sumsById(query, source.before, { only });
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

interface TableQuery {
  readonly context: ReportContext;
  readonly source: UsageRows;
  readonly filter: Parameters<typeof hideOtherPeople>[2] & Parameters<typeof usageRows>[1];
  readonly column: UsageColumn;
}

interface Wanted {
  /** Default: all, with sketches. */
  readonly sums?: readonly Sum[];
  /** Default: all ids. */
  readonly only?: readonly string[];
}

type SumsById = ReadonlyMap<string, FigureSums>;

/** The wanted sums by id. Past days are cached. */
async function sumsById(query: TableQuery, span: TimeSpan, wanted: Wanted): Promise<SumsById> {
  const { context, source, column } = query;
  if (wanted.only?.length === 0) return new Map();
  const read = async (parts: readonly RowPart[]): Promise<Map<string, FigureSums>> => {
    const found = new Map<string, FigureSums>();
    for (const part of parts) {
      await timeSlices(part.span, source.firstSliceMs, context.deadline, async (slice) => {
        for (const [id, sums] of await rowsIn(query, { ...part, span: slice }, wanted)) addTo(found, id, sums, wanted);
      });
    }
    return found;
  };
  const covered = await source.clipToData(span);
  const past = source.past(covered, column);
  const found = await read(source.restOf(covered, past));
  if (past !== null) {
    const question = JSON.stringify([source.question, column, "rows", wanted]);
    const cached = await context.pastSums.find(
      question,
      past,
      () => read([{ span: past, isPast: true }]),
      (sums) => sums.size * (wanted.sums === undefined ? wholeBytes : rowBytes),
    );
    for (const [id, sums] of cached) addTo(found, id, sums, wanted);
  }
  return found;
}

/** Approximate size of a cached row: of a few sums, and of all with sketches. */
const rowBytes = 160;
const wholeBytes = 1_000;

/** There may be a hundred thousand rows, so only the wanted sums are added. */
function addTo(found: Map<string, FigureSums>, id: string, more: FigureSums, { sums }: Wanted): void {
  const sum = found.get(id);
  if (sum === undefined) found.set(id, { counts: { ...more.counts }, sketches: { ...more.sketches } });
  else if (sums === undefined) addFigures(sum, more);
  else for (const name of sums) sum.counts[name] += more.counts[name];
}

async function rowsIn(
  { context, source, filter, column }: TableQuery,
  part: RowPart,
  { sums, only }: Wanted,
): Promise<readonly (readonly [string, FigureSums])[]> {
  const within = source.within(part, { column, stepMs: null, ...(sums === undefined ? {} : { summed: sums }) });
  const visible = hideOtherPeople(within, column, filter);
  const chosen = only === undefined ? visible : visible.where(sql.ref<string>(column), "in", only);
  const rows = await chosen
    .select(sql<string>`${sql.ref(column)}`.as("id"))
    .select((eb) => (sums ?? rollupSums).map((name) => eb.fn.sum<number>(name).as(name)))
    .select((sums === undefined ? rollupSketches : []).map((name) => joinedTexts(context, name, "").as(name)))
    .groupBy(sql.ref(column))
    .execute();
  return (rows as unknown as readonly SummedRow[]).map(({ id, ...row }) => {
    if (sums !== undefined) return [id, { counts: row as FigureSums["counts"], sketches: none }];
    const { counts, sketches } = noFigures();
    for (const name of rollupSums) counts[name] = row[name] ?? 0;
    for (const name of rollupSketches) sketches[name] = shortSketch(row[name] ?? "");
    return [id, { counts, sketches }];
  });
}

const none = {} as FigureSums["sketches"];

type SummedRow = { readonly id: string } & { readonly [Name in Sum]?: number } & {
  readonly [Sketch in LatencyColumn]?: string | null;
};

const tokenColumns = [...inputColumns, ...outputColumns];
const reasoningColumns: readonly Sum[] = ["reasoning", "separate_reasoning"];
const failures: readonly Sum[] = ["requests", "succeeded", "cancelled"];

/** The sums that decide the order. A query must read at least one, so each reads `attempts`. */
function sortedBy(sort: UsageSort): Wanted {
  const name = orderOf(sort);
  if (name.startsWith("request_")) return {};
  const sums = {
    cost_usd: ["cost_nano_usd"],
    requests: ["requests"],
    tokens: tokenColumns,
    cache_read_share: inputColumns,
    cache_saved_usd: ["cache_saved_nano_usd"],
    reasoning_tokens: reasoningColumns,
    reasoning_share: [...outputColumns, ...reasoningColumns],
    failed_requests: failures,
    error_rate: failures,
  } as const satisfies Record<string, readonly Sum[]>;
  return { sums: [...(sums[name as keyof typeof sums] ?? []), "attempts"] };
}

function orderOf(sort: UsageSort): string {
  return sort.startsWith("-") ? sort.slice(1) : sort;
}

function sortValue(
  sort: UsageSort,
  id: string,
  { counts, sketches }: FigureSums,
  label: (id: string) => string,
): SortPosition["value"] {
  const name = orderOf(sort);
  if (name === "label") return label(id).toLowerCase();
  // Exact, and much faster than all figures.
  if (name === "cost_usd") return counts.cost_nano_usd;
  const all = noFigures();
  const figures = figuresOf({ counts: { ...all.counts, ...counts }, sketches: { ...all.sketches, ...sketches } });
  if (name === "tokens") return figures.input_tokens + figures.output_tokens;
  if (name === "error_rate") return figures.requests === 0 ? null : figures.failed_requests / figures.requests;
  return figures[name as keyof UsageFigures];
}

/** Cost by month. Rows beyond the bound are added up in a last one, so that the totals are the sums of the rows. */
export async function chargeback(context: ReportContext, filter: ChargebackFilter): Promise<Chargeback> {
  return await inOneSnapshot(context, (snapshot) => readChargeback(snapshot, filter), { manyGroups: true });
}

const costs: Wanted = { sums: ["cost_nano_usd"] };

async function readChargeback(context: ReportContext, { months, ...filter }: ChargebackFilter): Promise<Chargeback> {
  const rows = new Map<string, number[]>();
  for (const [place, { from, to }] of months.entries()) {
    const scope = { ...filter, from, to, stepMs: hourMs };
    const source = await usageRows(context, scope, 0);
    const query = { context, source, filter: scope, column: columnOf[filter.by] };
    for (const [id, { counts }] of await sumsById(query, source.span, costs)) {
      const row = rows.get(id) ?? months.map(() => 0);
      rows.set(id, row);
      row[place] = counts.cost_nano_usd;
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
