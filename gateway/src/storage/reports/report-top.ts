import { sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import type { RowPart } from "../ledger/ledger-day-reading.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import type { PastTime } from "./past-sums.ts";
import { type ReportContext, sumsOverTime } from "./report-context.ts";
import { hideOtherPeople, type UsageColumn, type UsageRows } from "./report-usage-rows.ts";

/** Lines that are shown; all others together make one more. */
const linesMax = 9;

/** How many of the most expensive in past days are cached, and how many others are compared with them. */
const reportTopCached = 200;
const reportContendersMax = 100;
export const topLimits = { cachedMax: reportTopCached, contendersMax: reportContendersMax };

interface RankingQuery {
  readonly context: ReportContext;
  readonly source: UsageRows;
  readonly column: UsageColumn;
  readonly filter: UsageFilter;
}

/** The most expensive ids; ties are broken by attempts, then by id, so that the result does not depend on how it was found. */
export async function topByCost(query: RankingQuery, limits = topLimits): Promise<readonly string[]> {
  const { source, column } = query;
  const covered = await source.clipToData(source.span);
  const past = source.past(covered, column);
  const found = past === null ? null : await topUsingPast(past, query, covered, limits);
  const sums = found ?? (await rank(query, { span: covered }, { limit: linesMax }));
  return sums
    .toSorted(byCost)
    .slice(0, linesMax)
    .map(({ id }) => id);
}

/**
 * Uses the cached top of the past days and the cost that any other id had there at most: only ids in the top of the past or of the rest
 * can be in the total top. null: that is not decisive, and everything has to be read.
 */
async function topUsingPast(
  past: PastTime,
  query: RankingQuery,
  covered: TimeSpan,
  { cachedMax, contendersMax }: typeof topLimits,
): Promise<readonly Rank[] | null> {
  const { context, source, column } = query;
  const pastPart = { span: past, isPast: true };
  const readPast = async () => {
    const sums = (await rank(query, pastPart, { limit: cachedMax + 1 })).toSorted(byCost);
    const next = sums[cachedMax];
    return { known: sums.slice(0, cachedMax), othersNanoMax: next === undefined ? null : Math.max(0, next.nano) };
  };
  const question = JSON.stringify([source.question, column, "top"]);
  const bytesOf = (found: Awaited<ReturnType<typeof readPast>>) => found.known.length * rankBytes;
  const { known, othersNanoMax } = await context.pastSums.find(question, past, readPast, bytesOf);
  const first = known.map(({ id }) => id);
  const limit = first.length + contendersMax + 1;
  const isListed = new Set(first);
  const rest: Rank[] = [];
  for (const part of source.restOf(covered, past)) {
    for (const row of await rank(query, part, { limit, first })) rest.push(row);
  }
  const whole = mergeRanks([...known, ...rest.filter(({ id }) => isListed.has(id))]);
  const others = mergeRanks(rest.filter(({ id }) => !isListed.has(id)));
  if (othersNanoMax === null) return [...whole, ...others];
  const last = whole.toSorted(byCost)[linesMax - 1];
  // An id in neither list could cost as much as the last line.
  if (last === undefined || othersNanoMax >= last.nano) return null;
  const contenders = others.filter(({ nano }) => nano + othersNanoMax >= last.nano);
  if (contenders.length > contendersMax) return null;
  if (contenders.length === 0) return whole;
  const only = contenders.map(({ id }) => id);
  const before = await rank(query, pastPart, { limit: only.length, only });
  return [...whole, ...mergeRanks([...contenders, ...before])];
}

const rankBytes = 100;

interface RankingOptions {
  /** Used if one statement reads everything. */
  readonly limit: number;
  /** Sorted first, independent of their cost. */
  readonly first?: readonly string[];
  readonly only?: readonly string[];
}

interface Rank {
  readonly id: string;
  readonly nano: number;
  readonly attempts: number;
}

async function rank(
  { context, source, column, filter }: RankingQuery,
  part: RowPart,
  { limit, first = [], only }: RankingOptions,
): Promise<readonly Rank[]> {
  const { firstSliceMs } = source;
  const sums = { names: ["id"], sums: ["nano", "attempts"] } as const;
  return await sumsOverTime(
    context,
    { ...part.span, firstMs: firstSliceMs },
    sums,
    async (slice): Promise<readonly Rank[]> => {
      const summed = ["cost_nano_usd", "attempts"] as const;
      let rows = hideOtherPeople(
        source.within({ ...part, span: slice }, { column, stepMs: null, summed }),
        column,
        filter,
      );
      if (only !== undefined) rows = rows.where(sql.ref<string>(column), "in", only);
      const query = rows
        .select(sql<string>`${sql.ref(column)}`.as("id"))
        .select((eb) => [eb.fn.sum<number>("cost_nano_usd").as("nano"), eb.fn.sum<number>("attempts").as("attempts")])
        .groupBy(sql.ref(column));
      if (firstSliceMs !== Number.POSITIVE_INFINITY) return await query.execute();
      const inOrder =
        first.length === 0
          ? query
          : query.orderBy((eb) => eb.case().when(sql.ref<string>(column), "in", first).then(0).else(1).end());
      const byName = sql`${sql.ref(column)} ${context.flavour.name === "postgres" ? sql`collate "C"` : sql``}`;
      return await inOrder.orderBy("nano", "desc").orderBy("attempts", "desc").orderBy(byName).limit(limit).execute();
    },
  );
}

/** Merges ranks with the same id. */
function mergeRanks(ranks: readonly Rank[]): readonly Rank[] {
  const sums = new Map<string, Rank>();
  for (const { id, nano, attempts } of ranks) {
    const sum = sums.get(id);
    sums.set(id, { id, nano: nano + (sum?.nano ?? 0), attempts: attempts + (sum?.attempts ?? 0) });
  }
  return [...sums.values()];
}

function byCost(a: Rank, b: Rank): number {
  return b.nano - a.nano || b.attempts - a.attempts || (a.id < b.id ? -1 : 1);
}
