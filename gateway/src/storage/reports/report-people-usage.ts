import type { PeopleSort } from "@sluice/contract/words";
import { sql } from "kysely";
import { bounds, Failure, nanoToUsd, personOfScope } from "#core/index.ts";
import type { PeopleUsage, PeopleUsageFilter, PersonDaySpend, PersonUsage, UsageSums } from "#ports/index.ts";
import { inSnapshot } from "../database/database.ts";
import { cutPage } from "../database/pages.ts";
import { readyDays } from "../ledger/ledger-day-reading.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import { peopleTimes, peopleWithin } from "../ledger/ledger-people-reading.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { inputColumns, outputColumns } from "../ledger/ledger-sums.ts";
import type { ReportContext } from "./report-desk.ts";
import { peopleNamed } from "./report-names.ts";
import { firstSliceMs, timeSlices } from "./report-slices.ts";
import { coveredHours } from "./report-sums.ts";
import { usageRows } from "./report-usage-rows.ts";

/** What everybody has used in a time, one page of it. All of them are summed, so that any order is of the whole list. */
export async function peopleUsage(
  { connection, ...context }: ReportContext,
  filter: PeopleUsageFilter,
  cursor: string | null,
  limit: number,
): Promise<PeopleUsage> {
  return await inSnapshot({ reading: connection }, async (snapshot) => {
    if (context.flavour.name === "postgres") {
      await sql`set local work_mem = ${sql.lit(`${bounds.reportWorkMemoryMb}MB`)}`.execute(snapshot);
    }
    return await readPeople({ ...context, connection: snapshot }, filter, cursor, limit);
  });
}

async function readPeople(
  context: ReportContext,
  filter: PeopleUsageFilter,
  cursor: string | null,
  limit: number,
): Promise<PeopleUsage> {
  const { sums, from, to } = await sumsByPerson(context, filter);
  const named = await peopleNamed(context.connection, sums.keys());
  const people = new Map(named.map((person) => [person.id, person]));
  const all = [...sums].map(([id, counts]): PersonUsage => ({ person: people.get(id) ?? null, ...usageOf(counts) }));
  const found = all.filter(({ person }) => matches(person, filter.search ?? ""));
  const places = found.map((row) => ({ row, ...placeOf(row, filter.sort) })).sort(before(filter.sort));
  const after = cursor === null ? null : placeIn(cursor, filter.sort);
  const order = before(filter.sort);
  const behind = after === null ? places : places.filter((place) => order(place, after) > 0);
  const { page, next } = cutPage(behind.slice(0, limit + 1), limit, (last) => cursorAt(last, filter.sort));
  return {
    from,
    to,
    data: page.map(({ row }) => row),
    next,
    people: found.filter(({ person }) => person !== null).length,
    totals: usageOf(added(sums.values())),
  };
}

const counted = ["requests", "succeeded", "cancelled", "cost_nano_usd", ...inputColumns, ...outputColumns] as const;
type Counts = Record<(typeof counted)[number], number>;

/** By person; empty for what is no one person's. */
async function sumsByPerson(context: ReportContext, { search: _, sort: __, ...time }: PeopleUsageFilter) {
  const source = await usageRows(context, { ...time, by: "person", stepMs: hourMs }, 0);
  const sums = new Map<string, Counts>();
  await timeSlices(await source.covered(source.span), source.firstSliceMs, context.deadline, async (slice) => {
    const rows = await source
      .within(slice, { column: "person_id", stepMs: null, summed: counted })
      .select((eb) => sql<string>`${eb.ref("person_id")}`.as("id"))
      .select((eb) => counted.map((column) => eb.fn.sum<number>(column).as(column)))
      .groupBy("person_id")
      .execute();
    for (const { id, ...row } of rows as readonly (Counts & { readonly id: string })[]) {
      const sum = sums.get(id);
      if (sum === undefined) sums.set(id, row);
      else for (const column of counted) sum[column] += row[column];
    }
  });
  return { sums, ...source.span };
}

function added(all: Iterable<Counts>): Counts {
  const sum = Object.fromEntries(counted.map((column) => [column, 0])) as Counts;
  for (const each of all) for (const column of counted) sum[column] += each[column];
  return sum;
}

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

/** What a row is sorted by, and of equals. What is no one person's has no name, and stands behind all that have. */
interface Place {
  readonly value: number | string;
  readonly id: string;
}

function placeOf(row: PersonUsage, sort: PeopleSort): Place {
  const id = row.person?.id ?? "";
  switch (sort) {
    case "cost_usd":
    case "-cost_usd":
      return { value: row.costUsd, id };
    case "requests":
    case "-requests":
      return { value: row.requests, id };
    case "tokens":
    case "-tokens":
      return { value: row.inputTokens + row.outputTokens, id };
    case "person":
    case "-person":
      return { value: row.person?.email.toLowerCase() ?? "\u{10FFFF}", id };
  }
}

function before(sort: PeopleSort): (a: Place, b: Place) => number {
  const sign = sort.startsWith("-") ? -1 : 1;
  return (a, b) => (a.value === b.value ? compared(a.id, b.id) : sign * compared(a.value, b.value));
}

function compared(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function cursorAt({ value, id }: Place, sort: PeopleSort): string {
  return Buffer.from(JSON.stringify([sort, value, id]), "utf8").toString("base64url");
}

function placeIn(cursor: string, sort: PeopleSort): Place {
  try {
    const [given, value, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as readonly unknown[];
    const kind = sort.endsWith("person") ? "string" : "number";
    if (given === sort && typeof value === kind && typeof id === "string")
      return { value: value as Place["value"], id };
  } catch {
    // Below.
  }
  throw new Failure("invalid_request", "The cursor is not one this list gave out in this order.", { param: "cursor" });
}

/** What some people have spent by workspace and day; `scopeIds` as `personScopeId` makes them. */
export async function personDailySpend(
  { connection, ...context }: ReportContext,
  scopeIds: readonly string[],
  since: number,
): Promise<readonly PersonDaySpend[]> {
  return await inSnapshot({ reading: connection }, (snapshot) =>
    readDailySpend({ ...context, connection: snapshot }, scopeIds, since),
  );
}

async function readDailySpend(
  context: ReportContext,
  scopeIds: readonly string[],
  since: number,
): Promise<readonly PersonDaySpend[]> {
  const people = [...new Set(scopeIds.map((id) => personOfScope(id)[1]))];
  if (people.length === 0) return [];
  const { connection, flavour, deadline } = context;
  const hours = await coveredHours(context, { from: since, to: Number.MAX_SAFE_INTEGER });
  const times = await peopleTimes(connection, await readyDays(connection, hours), hours);
  const spends = new Map<string, { workspaceId: string; personId: string; day: number; nano: number }>();
  const day = sql<number>`hour - hour % ${sql.lit(dayMs)}`;
  await timeSlices(hours, firstSliceMs(context, dayMs), deadline, async (span) => {
    const rows = await peopleWithin(connection, flavour, {
      ...times,
      span,
      needed: ["workspace_id"],
      columns: ["hour", "workspace_id", "person_id", "cost_nano_usd"],
      choose: (given) => given.where("person_id", "in", people),
    })
      .select(["workspace_id as workspaceId", sql<string>`person_id`.as("personId"), day.as("day")])
      .select((eb) => eb.fn.sum<number>("cost_nano_usd").as("nano"))
      .where("cost_nano_usd", ">", 0)
      .groupBy(["workspace_id", "person_id", day])
      .execute();
    for (const row of rows) {
      const name = `${row.day} ${row.workspaceId} ${row.personId}`;
      const known = spends.get(name);
      if (known === undefined) spends.set(name, { ...row });
      else known.nano += row.nano;
    }
  });
  return [...spends.values()].map(({ nano, ...spend }) => ({ ...spend, usd: nanoToUsd(nano) }));
}
