import { sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import type { RowPart, TimeSpan } from "../ledger/ledger-day-reading.ts";
import type { KnownTime, Ranking, RankSums } from "./kept-days.ts";
import type { ReportContext } from "./report-desk.ts";
import { timeSlices } from "./report-slices.ts";
import { type UsageColumn, type UsageRows, withoutOthers } from "./report-usage-rows.ts";

/** Lines that are shown apart; the others together make one more. */
const linesMax = 9;

/** What cost most, of equals what was called most, and of those the first by name: the same whichever way it is found. */
export async function dearest(
  context: ReportContext,
  source: UsageRows,
  column: UsageColumn,
  filter: UsageFilter,
): Promise<readonly string[]> {
  const desk = { context, source, column, filter };
  const covered = await source.covered(source.span);
  const days = source.known(covered, { column, stepMs: null });
  const found = days.length === 0 ? null : await dearestBesideDays(desk, covered, days);
  if (found !== null) return found;
  const sums = await ranked(desk, covered, { part: "all", limit: linesMax });
  return inOrder(sums).slice(0, linesMax);
}

interface Desk {
  readonly context: ReportContext;
  readonly source: UsageRows;
  readonly column: UsageColumn;
  readonly filter: UsageFilter;
}

/**
 * The dearest of days that are over are known, and what any other costs in them at most. So beside the rest of the time only those can be among
 * the first that are among the dearest of either. null: that did not tell, and all has to be read.
 */
async function dearestBesideDays(
  desk: Desk,
  covered: TimeSpan,
  days: readonly KnownTime[],
): Promise<readonly string[] | null> {
  const { contendersMax } = desk.context.kept;
  const ranking = await rankingOf(desk, covered, days);
  const { othersNanoMax } = ranking;
  const beside = new Map<string, RankSums>();
  const known = [...ranking.dearest.keys()];
  const limit = known.length + contendersMax + 1;
  for (const [part, rest] of desk.source.rest(covered, days)) {
    for (const [id, sums] of await ranked(desk, rest, { part, limit, first: known })) add(beside, id, sums);
  }
  const whole = new Map<string, RankSums>();
  for (const [id, sums] of ranking.dearest) {
    add(whole, id, sums);
    const more = beside.get(id);
    if (more !== undefined) add(whole, id, more);
  }
  const others = [...beside].filter(([id]) => !ranking.dearest.has(id));
  if (othersNanoMax === null) return inOrder(new Map([...whole, ...others])).slice(0, linesMax);
  const last = whole.get(inOrder(whole)[linesMax - 1] ?? "");
  // Of those that are in neither list one could be as dear as the last that is shown.
  if (last === undefined || othersNanoMax >= last.nano) return null;
  const contenders = others.filter(([, { nano }]) => nano + othersNanoMax >= last.nano);
  if (contenders.length > contendersMax) return null;
  const ids = contenders.map(([id]) => id);
  for (const [id, sums] of contenders) add(whole, id, sums);
  if (ids.length > 0) {
    const limit = ids.length;
    for (const [id, sums] of await ranked(desk, spanOf(days), { part: "known", limit, only: ids }))
      add(whole, id, sums);
  }
  return inOrder(whole).slice(0, linesMax);
}

async function rankingOf(desk: Desk, covered: TimeSpan, days: readonly KnownTime[]): Promise<Ranking> {
  const { context, source, column } = desk;
  const question = JSON.stringify([source.question, column, "dearest"]);
  const { dearestMax } = context.kept;
  const known = context.kept.rankingOf(question, days);
  if (known !== null) return known;
  const sums = await ranked(desk, covered, { part: "known", limit: dearestMax + 1 });
  const order = inOrder(sums);
  const dearestOf = order.slice(0, dearestMax);
  const next = sums.get(order[dearestMax] ?? "");
  const ranking: Ranking = {
    dearest: new Map(dearestOf.map((id) => [id, sums.get(id) ?? nothing])),
    othersNanoMax: next === undefined ? null : Math.max(0, next.nano),
  };
  context.kept.keepRanking(question, days, ranking);
  return ranking;
}

interface RankAsk {
  readonly part: RowPart;
  /** Where one statement reads all of it, no more need to be sent. */
  readonly limit: number;
  /** Before all others, whatever they cost. */
  readonly first?: readonly string[];
  readonly only?: readonly string[];
}

async function ranked(
  { context, source, column, filter }: Desk,
  span: TimeSpan,
  { part, limit, first = [], only }: RankAsk,
): Promise<ReadonlyMap<string, RankSums>> {
  const sums = new Map<string, RankSums>();
  await timeSlices(span, source.firstSliceMs, context.deadline, async (slice) => {
    const summed = ["cost_nano_usd", "attempts"] as const;
    let rows = withoutOthers(source.within(slice, { column, stepMs: null, summed, part }), column, filter);
    if (only !== undefined) rows = rows.where(column, "in", only);
    const query = rows
      .select((eb) => sql<string>`${eb.ref(column)}`.as("id"))
      .select((eb) => [eb.fn.sum<number>("cost_nano_usd").as("nano"), eb.fn.sum<number>("attempts").as("attempts")])
      .groupBy(column);
    const whole = source.firstSliceMs === Number.POSITIVE_INFINITY;
    const known =
      first.length === 0 ? query : query.orderBy((eb) => eb.case().when(column, "in", first).then(0).else(1).end());
    const byName = sql`${sql.ref(column)} ${context.flavour.name === "postgres" ? sql`collate "C"` : sql``}`;
    const read = whole ? known.orderBy("nano", "desc").orderBy("attempts", "desc").orderBy(byName).limit(limit) : query;
    for (const { id, nano, attempts } of await read.execute()) add(sums, id, { nano, attempts });
  });
  return sums;
}

function add(sums: Map<string, RankSums>, id: string, { nano, attempts }: RankSums): void {
  const sum = sums.get(id) ?? nothing;
  sums.set(id, { nano: sum.nano + nano, attempts: sum.attempts + attempts });
}

function inOrder(sums: ReadonlyMap<string, RankSums>): readonly string[] {
  return [...sums]
    .sort(([idA, a], [idB, b]) => b.nano - a.nano || b.attempts - a.attempts || (idA < idB ? -1 : 1))
    .map(([id]) => id);
}

const nothing: RankSums = { nano: 0, attempts: 0 };

function spanOf(times: readonly KnownTime[]): TimeSpan {
  return { from: times[0]?.from ?? 0, to: times.at(-1)?.to ?? 0 };
}
