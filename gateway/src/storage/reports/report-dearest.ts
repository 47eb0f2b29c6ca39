import { sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import type { RowPart, TimeSpan } from "../ledger/ledger-day-reading.ts";
import type { PastTime } from "./kept-sums.ts";
import { type ReportContext, sumsOverTime } from "./report-context.ts";
import { type UsageColumn, type UsageRows, withoutOthers } from "./report-usage-rows.ts";

/** Lines that are shown apart; the others together make one more. */
const linesMax = 9;

/** How many of the most expensive in past days are kept, and how many others are looked up too. */
const reportDearestKept = 200;
const reportContendersMax = 100;
export const dearestLimits = { dearestMax: reportDearestKept, contendersMax: reportContendersMax };

interface Ranked {
  readonly context: ReportContext;
  readonly source: UsageRows;
  readonly column: UsageColumn;
  readonly filter: UsageFilter;
}

/** What cost most, of equals what was called most, and of those the first by name: the same whichever way it is found. */
export async function dearest(asked: Ranked, limits = dearestLimits): Promise<readonly string[]> {
  const { source, column } = asked;
  const covered = await source.covered(source.span);
  const past = source.past(covered, { column, stepMs: null });
  const found = past === null ? null : await dearestBeside(past, asked, covered, limits);
  const sums = found ?? (await ranked(asked, { span: covered }, { limit: linesMax }));
  return sums
    .toSorted(byCost)
    .slice(0, linesMax)
    .map(({ id }) => id);
}

/**
 * The dearest of the past are known, and what any other costs in it at most. So beside the rest of the time only those can be among
 * the first that are among the dearest of either. null: that did not tell, and all has to be read.
 */
async function dearestBeside(
  past: PastTime,
  asked: Ranked,
  covered: TimeSpan,
  { dearestMax, contendersMax }: typeof dearestLimits,
): Promise<readonly Rank[] | null> {
  const { context, source, column } = asked;
  const pastPart = { span: past, isPast: true };
  const readPast = async () => {
    const sums = (await ranked(asked, pastPart, { limit: dearestMax + 1 })).toSorted(byCost);
    const next = sums[dearestMax];
    return { known: sums.slice(0, dearestMax), othersNanoMax: next === undefined ? null : Math.max(0, next.nano) };
  };
  const question = JSON.stringify([source.question, column, "dearest"]);
  const bytesOf = (found: Awaited<ReturnType<typeof readPast>>) => found.known.length * rankBytes;
  const { known, othersNanoMax } = await context.kept.find(question, past, readPast, bytesOf);
  const first = known.map(({ id }) => id);
  const limit = first.length + contendersMax + 1;
  const isKnown = new Set(first);
  const rest: Rank[] = [];
  for (const part of source.rest(covered, past)) {
    for (const row of await ranked(asked, part, { limit, first })) rest.push(row);
  }
  const whole = added([...known, ...rest.filter(({ id }) => isKnown.has(id))]);
  const others = added(rest.filter(({ id }) => !isKnown.has(id)));
  if (othersNanoMax === null) return [...whole, ...others];
  const last = whole.toSorted(byCost)[linesMax - 1];
  // Of those that are in neither list one could be as dear as the last that is shown.
  if (last === undefined || othersNanoMax >= last.nano) return null;
  const contenders = others.filter(({ nano }) => nano + othersNanoMax >= last.nano);
  if (contenders.length > contendersMax) return null;
  if (contenders.length === 0) return whole;
  const only = contenders.map(({ id }) => id);
  const before = await ranked(asked, pastPart, { limit: only.length, only });
  return [...whole, ...added([...contenders, ...before])];
}

/** About what is kept of one of the dearest. */
const rankBytes = 100;

interface RankAsk {
  /** Where one statement reads all of it, no more need to be sent. */
  readonly limit: number;
  /** Before all others, whatever they cost. */
  readonly first?: readonly string[];
  readonly only?: readonly string[];
}

interface Rank {
  readonly id: string;
  readonly nano: number;
  readonly attempts: number;
}

async function ranked(
  { context, source, column, filter }: Ranked,
  part: RowPart,
  { limit, first = [], only }: RankAsk,
): Promise<readonly Rank[]> {
  const { firstSliceMs } = source;
  const sums = { names: ["id"], sums: ["nano", "attempts"] } as const;
  return await sumsOverTime(
    context,
    { ...part.span, firstMs: firstSliceMs },
    sums,
    async (slice): Promise<readonly Rank[]> => {
      const summed = ["cost_nano_usd", "attempts"] as const;
      let rows = withoutOthers(
        source.within({ ...part, span: slice }, { column, stepMs: null, summed }),
        column,
        filter,
      );
      if (only !== undefined) rows = rows.where(column, "in", only);
      const query = rows
        .select((eb) => sql<string>`${eb.ref(column)}`.as("id"))
        .select((eb) => [eb.fn.sum<number>("cost_nano_usd").as("nano"), eb.fn.sum<number>("attempts").as("attempts")])
        .groupBy(column);
      if (firstSliceMs !== Number.POSITIVE_INFINITY) return await query.execute();
      const inOrder =
        first.length === 0 ? query : query.orderBy((eb) => eb.case().when(column, "in", first).then(0).else(1).end());
      const byName = sql`${sql.ref(column)} ${context.flavour.name === "postgres" ? sql`collate "C"` : sql``}`;
      return await inOrder.orderBy("nano", "desc").orderBy("attempts", "desc").orderBy(byName).limit(limit).execute();
    },
  );
}

/** Each once, with all that it has. */
function added(ranks: readonly Rank[]): readonly Rank[] {
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
