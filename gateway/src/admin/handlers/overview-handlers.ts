import { nanoToUsd, periodEnd, periodStart } from "#core/index.ts";
import { readAttention } from "../attention/attention.ts";
import { forecastSince, spendRate } from "../budgets/forecast.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import type { Handlers } from "./calls.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export function overviewHandlers(dependencies: ConsoleDependencies) {
  const { reports, clock } = dependencies;
  return {
    "attention.list": (call) => readAttention(call, dependencies),
    "usage.month": async ({ workspace }) => {
      const now = clock.now();
      const workspaceId = workspace?.id ?? null;
      const from = periodStart("month", now);
      const end = periodEnd("month", now) ?? now;
      const to = Math.max(from + hourMs, Math.ceil(now / hourMs) * hourMs);
      const before = periodStart("month", from - 1);
      // A shorter month may have ended before that time.
      const sameTime = Math.min(before + (to - from), from);
      const cost = async (start: number, until: number) => {
        const usage = { workspaceId, by: "none", stepMs: dayMs, from: start, to: until } as const;
        return (await reports.usage(usage)).totals.cost_usd;
      };
      const [costUsd, previousUsd, wholeUsd, days] = await Promise.all([
        cost(from, to),
        cost(before, sameTime),
        cost(before, from),
        reports.dailySpend(workspaceId, forecastSince(now)),
      ]);
      const budget = workspace?.scope.budget ?? null;
      return {
        ...{ from, to, cost_usd: costUsd },
        forecast_usd: costUsd + spendRate(days, now) * Math.max(0, end - now),
        budget_usd: budget?.period === "month" ? nanoToUsd(budget.nanoUsd) : null,
        previous: { from: before, to: sameTime, cost_usd: previousUsd, whole_usd: wholeUsd },
      };
    },
  } satisfies Partial<Handlers>;
}
