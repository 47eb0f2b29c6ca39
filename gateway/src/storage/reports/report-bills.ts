import { sql } from "kysely";
import { type AdjustmentReason, type PriceVersion, type Usage, usageClassColumns, usageClasses } from "#core/index.ts";
import type { BilledUsage, BilledUsageQuery } from "#ports/index.ts";
import { usageColumns } from "../ledger/ledger-columns.ts";
import { dayMs } from "../ledger/ledger-grains.ts";
import { type ReportContext, sumsOverTime } from "./report-context.ts";

const names = [
  ...(["model", "upstream_model", "served_model", "price_version", "usage_source", "outcome", "served"] as const),
  ...(["adjustment", "adjusts", "runs_over"] as const),
] as const;
const sums = ["calls", "cost_nano_usd", ...usageColumns] as const;

type BillRow = Record<(typeof names)[number], string | number | null> & Record<(typeof sums)[number], number>;

/** Entries of one provider in a time, grouped by all that a vendor's bill depends on. Entries without usage and cost are left out. */
export async function billedUsage(context: ReportContext, query: BilledUsageQuery): Promise<readonly BilledUsage[]> {
  const { connection } = context;
  const { provider, from, to } = query;
  // One statement for each hour, so that the deadline is checked in between.
  const rows = await sumsOverTime<BillRow>(context, { from, to, firstMs: 3_600_000 }, { names, sums }, async (span) => {
    const read = await connection
      .selectFrom("ledger")
      .select(names.filter((name) => name !== "runs_over"))
      .select(sql<number>`case when ended_at - ended_at % ${sql.lit(dayMs)} > at then 1 else 0 end`.as("runs_over"))
      .select((eb) => sums.map((sum) => eb.fn.sum<number>(sum).as(sum)))
      .where("at", ">=", span.from)
      .where("at", "<", span.to)
      .where("provider", "=", provider)
      .where((eb) => eb.or([eb("usage_source", "!=", "none"), eb("cost_nano_usd", "!=", 0)]))
      .groupBy(names)
      .execute();
    return read.map(
      (row) => ({ ...row, ...Object.fromEntries(sums.map((sum) => [sum, Number(row[sum])])) }) as BillRow,
    );
  });
  return await Promise.all(rows.map((row) => usageOf(row, context.price)));
}

async function usageOf(
  row: BillRow,
  priceOf: (versionId: string) => Promise<PriceVersion | null>,
): Promise<BilledUsage> {
  const usage = Object.fromEntries(usageClasses.map((name) => [name, row[usageClassColumns[name]]]));
  const version = row.price_version === null ? null : await priceOf(String(row.price_version));
  return {
    model: String(row.model),
    upstreamModel: String(row.served_model ?? row.upstream_model),
    adjustment: row.adjustment as AdjustmentReason | null,
    adjusts: row.adjusts === null ? null : String(row.adjusts),
    isEstimated: row.usage_source === "estimated",
    isBroken: row.outcome !== "succeeded",
    served: row.served === null ? null : String(row.served),
    runsOver: row.runs_over === 1,
    calls: row.calls,
    usage: usage as Usage,
    costNanoUsd: row.cost_nano_usd,
    prices: version?.table ?? null,
  };
}
