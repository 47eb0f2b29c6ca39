import type { UsageSeries } from "@sluice/contract";

interface Spend {
  readonly at: readonly number[];
  readonly series: readonly {
    readonly id: string;
    readonly label: string;
    /** USD, one for each of `at`. */
    readonly values: readonly number[];
  }[];
}

type Daily = {
  readonly at: UsageSeries["at"];
  readonly series: readonly Pick<UsageSeries["series"][number], "id" | "label" | "points">[];
};

/** The start (UTC) of the month that many months before `now`. */
export function monthsBefore(now: number, months: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months);
}

export function spendByDay({ at, series }: Daily): Spend {
  const values = (points: Daily["series"][number]["points"]) => (points.cost_usd ?? []).map((usd) => usd ?? 0);
  return { at, series: series.map(({ id, label, points }) => ({ id, label, values: values(points) })) };
}

/** Sums days by UTC month, at local midnight of the first day, so that it is labeled with the right month. */
export function spendByMonth(daily: Daily): Spend {
  const { at, series } = spendByDay(daily);
  const starts = at.map((day) => monthsBefore(day, 0));
  const months = [...new Set(starts)];
  return {
    at: months.map(localMidnight),
    series: series.map(({ values, ...line }) => ({
      ...line,
      values: months.map((month) => values.reduce((sum, usd, place) => (starts[place] === month ? sum + usd : sum), 0)),
    })),
  };
}

function localMidnight(month: number): number {
  const date = new Date(month);
  return new Date(date.getUTCFullYear(), date.getUTCMonth()).getTime();
}
