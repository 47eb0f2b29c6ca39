import type { RequestTotals } from "@sluice/contract/console";
import { type RawBuilder, sql } from "kysely";
import { nanoToUsd } from "#core/index.ts";
import type { RequestFilter } from "#ports/index.ts";
import { inputColumns, outputColumns, type UsageColumn } from "../ledger/ledger-columns.ts";
import type { ReportContext } from "./report-context.ts";
import { entryList } from "./report-requests.ts";
import { eachSlice } from "./report-search.ts";

const totalsScanMs = 1_500;

const sums = {
  attempts: sql`count(*)`,
  requests: sum(sql`case when retry_index = 0 then calls else 0 end`),
  unsuccessful: sum(sql`case when outcome = 'succeeded' then 0 else calls end`),
  input_tokens: sum(added(inputColumns)),
  output_tokens: sum(added(outputColumns)),
  cost_nano_usd: sum(sql.ref("cost_nano_usd")),
};

/** What a filter matches in the ledger, newest first, until the time limit. */
export async function requestTotals(context: ReportContext, filter: RequestFilter): Promise<RequestTotals> {
  const names = Object.keys(sums) as (keyof typeof sums)[];
  const totals = Object.fromEntries(names.map((name) => [name, 0])) as Record<keyof typeof sums, number>;
  const list = await entryList(context, filter);
  const searchedTo = await eachSlice(list, context.deadline, totalsScanMs, async (after, end) => {
    const row = await list
      .matching(after, end)
      ?.select(names.map((name) => sql<number | string>`${sums[name]}`.as(name)))
      .executeTakeFirst();
    if (row !== undefined) for (const name of names) totals[name] += Number(row[name]);
  });
  const { cost_nano_usd, ...counts } = totals;
  return { ...counts, cost_usd: nanoToUsd(cost_nano_usd), searched_from: searchedTo?.at ?? null };
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
