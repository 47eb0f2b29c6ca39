import type { LimitUsageRow } from "@sluice/contract";
import { type BudgetPeriod, type BudgetWindow, windowStart, withoutUndefined } from "#core/index.ts";
import type { UsageRowsFilter } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

const hourMs = 3_600_000;
const valuesMax = 10;
/** Reports at a time, so that one page does not take every report thread. */
const reportsAtOnce = 2;

interface TagFilter {
  readonly tag: string;
  readonly value: string | undefined;
}

/** Adds the spend of each budget's current period by the values of a tag. */
export async function splitByTag(
  rows: readonly LimitUsageRow[],
  { tag, value }: TagFilter,
  { reports, clock }: Pick<ConsoleDependencies, "reports" | "clock">,
): Promise<LimitUsageRow[]> {
  const now = clock.now();
  const to = Math.ceil((now + 1) / hourMs) * hourMs;
  const spendOf = async (row: LimitUsageRow): Promise<LimitUsageRow> => {
    if (row.kind !== "budget" || row.period === null) return row;
    const filter: UsageRowsFilter = {
      ...scopeOf(row),
      from: windowStart(windowOf(row, row.period), now),
      to,
      ...{ by: "tag", tag, sort: "-cost_usd" },
      ...withoutUndefined({ tagValue: value === "-" ? "" : value }),
    };
    const { data } = await reports.usageRows(filter, null, valuesMax);
    return { ...row, by_tag: data.map(({ id, figures }) => ({ value: id, usd: figures.cost_usd })) };
  };
  const split: LimitUsageRow[] = [];
  for (let start = 0; start < rows.length; start += reportsAtOnce) {
    split.push(...(await Promise.all(rows.slice(start, start + reportsAtOnce).map(spendOf))));
  }
  return split;
}

function scopeOf({ scope, scope_id: id, workspace }: LimitUsageRow): Pick<UsageRowsFilter, "workspaceId" | "keyId"> {
  const ids = { workspace: {}, group: { groupId: id }, person: { personId: id }, key: { keyId: id } };
  return { workspaceId: workspace.id, ...ids[scope] };
}

function windowOf({ time_zone: timeZone, rolling }: LimitUsageRow, period: BudgetPeriod): BudgetWindow {
  return { period, rolling, ...(timeZone === null ? {} : { timeZone }) };
}
