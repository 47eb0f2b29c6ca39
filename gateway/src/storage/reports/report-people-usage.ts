import type { PeopleSort } from "@sluice/contract/words";
import { sql } from "kysely";
import { nanoToUsd } from "#core/index.ts";
import type { PeopleUsage, PeopleUsageFilter, PersonUsage, UsageSums } from "#ports/index.ts";
import { sortedPage } from "../database/pages.ts";
import { inputColumns, outputColumns } from "../ledger/ledger-columns.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext, sumsOverTime } from "./report-context.ts";
import { peopleNamed } from "./report-names.ts";
import { usageRows } from "./report-usage-rows.ts";

/** One page of all people's usage. All are summed, so that any order applies to the whole list. */
export async function peopleUsage(
  context: ReportContext,
  filter: PeopleUsageFilter,
  cursor: string | null,
  limit: number,
): Promise<PeopleUsage> {
  return await inOneSnapshot(context, (snapshot) => readPeople(snapshot, filter, cursor, limit), { manyGroups: true });
}

async function readPeople(
  context: ReportContext,
  { search = "", sort, ...time }: PeopleUsageFilter,
  cursor: string | null,
  limit: number,
): Promise<PeopleUsage> {
  const source = await usageRows(context, { ...time, by: "person", stepMs: hourMs }, 0);
  const covered = { ...(await source.clipToData(source.span)), firstMs: source.firstSliceMs };
  // An empty id means usage of no single person.
  const sums = await sumsOverTime<PersonCounts>(context, covered, { names: ["id"], sums: counted }, async (slice) => {
    const rows = await source
      .within({ span: slice }, { column: "person_id", stepMs: null, summed: counted })
      .select((eb) => sql<string>`${eb.ref("person_id")}`.as("id"))
      .select((eb) => counted.map((column) => eb.fn.sum<number>(column).as(column)))
      .groupBy("person_id")
      .execute();
    return rows as unknown as readonly PersonCounts[];
  });
  const ids = sums.map(({ id }) => id);
  const people = new Map((await peopleNamed(context.connection, ids)).map((person) => [person.id, person]));
  const all = sums.map(({ id, ...counts }): PersonUsage => ({ person: people.get(id) ?? null, ...usageOf(counts) }));
  const found = all.filter(({ person }) => matches(person, search));
  const sortValueOf = sortedBy[sort.replace(/^-/, "") as keyof typeof sortedBy];
  const positionOf = (row: PersonUsage) => ({ value: sortValueOf(row), id: row.person?.id ?? "" });
  const { page, next } = sortedPage(found, positionOf, { sort, cursor, limit });
  const totals = Object.fromEntries(counted.map((column) => [column, 0])) as Counts;
  for (const each of sums) for (const column of counted) totals[column] += each[column];
  return {
    ...source.span,
    data: page,
    next,
    people: found.filter(({ person }) => person !== null).length,
    totals: usageOf(totals),
  };
}

const counted = ["requests", "succeeded", "cancelled", "cost_nano_usd", ...inputColumns, ...outputColumns] as const;
type Counts = Record<(typeof counted)[number], number>;
type PersonCounts = Counts & { readonly id: string };

function usageOf(counts: Counts): UsageSums {
  const tokens = (columns: readonly (keyof Counts)[]) => columns.reduce((sum, column) => sum + counts[column], 0);
  return {
    requests: counts.requests,
    failedRequests: Math.max(0, counts.requests - counts.succeeded - counts.cancelled),
    inputTokens: tokens(inputColumns),
    outputTokens: tokens(outputColumns),
    costUsd: nanoToUsd(counts.cost_nano_usd),
  };
}

function matches(person: PersonUsage["person"], search: string): boolean {
  if (search === "") return true;
  const words = search.toLowerCase();
  return person !== null && [person.email, person.name].some((text) => text.toLowerCase().includes(words));
}

/** Usage of no single person comes after all names. */
const sortedBy = {
  cost_usd: ({ costUsd }: PersonUsage) => costUsd,
  requests: ({ requests }: PersonUsage) => requests,
  tokens: ({ inputTokens, outputTokens }: PersonUsage) => inputTokens + outputTokens,
  person: ({ person }: PersonUsage) => person?.email.toLowerCase() ?? "\u{10FFFF}",
} satisfies Record<Exclude<PeopleSort, `-${string}`>, unknown>;
