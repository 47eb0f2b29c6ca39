import type { RequestTotals } from "@sluice/contract/console";
import { type RawBuilder, sql } from "kysely";
import { nanoToUsd, withoutUndefined } from "#core/index.ts";
import type { RequestFilter } from "#ports/index.ts";
import { inputColumns, outputColumns, type UsageColumn } from "../ledger/ledger-columns.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext, timeSlices } from "./report-context.ts";
import { eachEntryHour } from "./report-entry-hours.ts";
import { hideOtherPeople, usageRows } from "./report-usage-rows.ts";

const totalsScanMs = 1_500;

type Totals = Record<keyof typeof entrySums, number>;

const entrySums = {
  attempts: sum(sql.ref("calls")),
  requests: sum(sql`case when retry_index = 0 then calls else 0 end`),
  unsuccessful: sum(sql`case when outcome = 'succeeded' then 0 else calls end`),
  input_tokens: sum(added(inputColumns)),
  output_tokens: sum(added(outputColumns)),
  cost_nano_usd: sum(sql.ref("cost_nano_usd")),
};
const names = Object.keys(entrySums) as (keyof Totals)[];

/** The same sums, from rollups. */
const hourSums: typeof entrySums = {
  ...entrySums,
  attempts: sum(sql.ref("attempts")),
  requests: sum(sql.ref("requests")),
  unsuccessful: sql`${sum(sql.ref("attempts"))} - ${sum(sql.ref("succeeded"))}`,
};
const summed = ["attempts", "requests", "succeeded", "cost_nano_usd", ...inputColumns, ...outputColumns] as const;

/**
 * Sums the matches of a filter in the ledger. Whole hours are read from the rollups, if they have every column of the filter; entries are
 * read newest first, until the time limit.
 */
export async function requestTotals(context: ReportContext, filter: RequestFilter): Promise<RequestTotals> {
  return await inOneSnapshot(context, async (snapshot) => {
    const totals = noTotals();
    // Rollups are kept longer than entries.
    const pruned = await prunedBefore(snapshot.connection);
    const from = pruned === 0 ? filter.from : Math.max(filter.from ?? 0, pruned);
    const hours = rollupHours({ ...filter, from });
    if (hours !== null) await addRollups(snapshot, filter, hours, totals);
    const rest =
      hours === null
        ? [filter]
        : [
            ...(hours.to === (filter.to ?? unbounded) ? [] : [{ ...filter, from: hours.to }]),
            ...(from === undefined || from === hours.from ? [] : [{ ...filter, from, to: hours.from }]),
          ];
    let searchedFrom: number | null = null;
    for (const part of rest) {
      searchedFrom ??= await addEntries(snapshot, part, totals);
    }
    const { cost_nano_usd, ...counts } = totals;
    return { ...counts, cost_usd: nanoToUsd(cost_nano_usd), searched_from: searchedFrom };
  });
}

const unbounded = Number.MAX_SAFE_INTEGER;

/** The whole hours that can be read from the rollups. null: none, or the filter has other columns. `to` may be `unbounded`. */
function rollupHours(filter: Omit<RequestFilter, "from"> & { readonly from: number | undefined }): TimeSpan | null {
  const { workspaceId, model, provider, keyId, groupId, personId, endpoint, visiblePerson, from, to, ...others } =
    filter;
  if (Object.values(others).some((value) => value !== undefined && value !== "")) return null;
  const hours = {
    from: Math.ceil((from ?? 0) / hourMs) * hourMs,
    to: to === undefined ? unbounded : Math.floor(to / hourMs) * hourMs,
  };
  return hours.from < hours.to ? hours : null;
}

async function addRollups(
  context: ReportContext,
  { search: _search, ...filter }: RequestFilter,
  { from, to }: TimeSpan,
  totals: Totals,
): Promise<void> {
  const { visiblePerson, workspaceId, model, provider, keyId, groupId, personId, endpoint } = filter;
  const columns = withoutUndefined({ model, provider, keyId, groupId, personId, endpoint });
  const scope = { workspaceId, ...columns, from, to, stepMs: hourMs, by: "none" as const };
  const source = await usageRows(context, scope, 0);
  const span = await source.clipToData({ from, to });
  await timeSlices(span, source.firstSliceMs, context.deadline, async (slice) => {
    const column = visiblePerson === undefined ? null : "person_id";
    const rows = source.within({ span: slice }, { column, stepMs: null, summed });
    const row = await hideOtherPeople(rows, column, { ...scope, visiblePerson })
      .select(names.map((name) => sql<number | string>`${hourSums[name]}`.as(name)))
      .executeTakeFirstOrThrow();
    for (const name of names) totals[name] += Number(row[name]);
  });
}

/** Resolves to the time that the search reached; null: the end. */
async function addEntries(context: ReportContext, filter: RequestFilter, totals: Totals): Promise<number | null> {
  const { found, searchedTo } = await eachEntryHour<Totals>(context, filter, {
    question: "totals",
    scanMs: totalsScanMs,
    none: noTotals,
    add: async (to, list, after, end) => {
      const row = await list
        .matching(after, end)
        ?.select(names.map((name) => sql<number | string>`${entrySums[name]}`.as(name)))
        .executeTakeFirst();
      return row === undefined ? to : addedTotals(to, row as Record<keyof Totals, number | string>);
    },
    merge: addedTotals,
    bytesOf: () => totalsBytes,
  });
  for (const name of names) totals[name] += found[name];
  return searchedTo?.at ?? null;
}

const totalsBytes = 200;

function noTotals(): Totals {
  return Object.fromEntries(names.map((name) => [name, 0])) as Totals;
}

function addedTotals(one: Totals, other: Readonly<Record<keyof Totals, number | string>>): Totals {
  return Object.fromEntries(names.map((name) => [name, one[name] + Number(other[name])])) as Totals;
}

function sum(value: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(sum(${value}), 0)`;
}

function added(columns: readonly UsageColumn[]): RawBuilder<unknown> {
  return sql.join(
    columns.map((column) => sql.ref(column)),
    sql` + `,
  );
}
