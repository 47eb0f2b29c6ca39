import { bounds, comparedCosts, nanoToUsd } from "#core/index.ts";
import type { CostFilter, CostSum } from "#ports/index.ts";
import { readyDays, rollupsWithin } from "../ledger/ledger-day-reading.ts";
import { dayMs } from "../ledger/ledger-days.ts";
import type { ReportContext } from "./report-desk.ts";
import { firstSliceMs, timeSlices } from "./report-slices.ts";
import { coveredHours, ofOneMoment } from "./report-sums.ts";

const summed = ["attempts", "cost_nano_usd", "vendor_cost_nano_usd", "compared_cost_nano_usd"] as const;
type Sums = Record<(typeof summed)[number], number>;

/** What was charged and what vendors reported, by provider and model. Calls that were refused before a provider was chosen are left out. */
export async function costs(desk: ReportContext, { workspaceId, from, to }: CostFilter): Promise<readonly CostSum[]> {
  const pairs = new Map<string, Sums & { readonly provider: string; readonly model: string }>();
  await ofOneMoment(desk, async (context) => {
    const { connection, flavour } = context;
    const hours = await coveredHours(context, { from, to });
    const days = await readyDays(connection, hours);
    await timeSlices(hours, firstSliceMs(context, dayMs), context.deadline, async (span) => {
      let query = rollupsWithin(connection, flavour, {
        span,
        days,
        needed: ["workspace_id", "model", "provider"],
        columns: ["hour", "workspace_id", "model", "provider", ...summed],
      })
        .select(["provider", "model"])
        .select((eb) => summed.map((column) => eb.fn.sum<number>(column).as(column)))
        .where("provider", "!=", "")
        .groupBy(["provider", "model"]);
      if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
      for (const row of await query.execute()) {
        const name = `${row.provider} ${row.model}`;
        const sums = pairs.get(name);
        if (sums === undefined) pairs.set(name, row);
        else for (const column of summed) sums[column] += row[column];
      }
    });
  });
  return [...pairs.values()]
    .sort((a, b) => b.cost_nano_usd - a.cost_nano_usd || b.attempts - a.attempts || (a.model < b.model ? -1 : 1))
    .slice(0, bounds.reportRowsMax)
    .map((sums) => ({
      provider: sums.provider,
      model: sums.model,
      attempts: sums.attempts,
      cost_usd: nanoToUsd(sums.cost_nano_usd),
      ...comparedCosts(sums.vendor_cost_nano_usd, sums.compared_cost_nano_usd),
    }));
}
