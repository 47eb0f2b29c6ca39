import { Anchor, Progress, Stack } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { formatShare, formatUsdShort } from "../../client/format.ts";
import { Money } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { t } from "../../language/areas/overview.ts";
import { locale } from "../../language/chosen.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { MonthChart } from "./month-chart.tsx";
import { useMonth } from "./use-month.ts";

/** The cost of this month: until now, forecast, against the budget, and of the month before. */
export function MonthSection() {
  const month = useMonth();
  const { data } = month;
  if (data === undefined && month.error !== null) {
    return <ProblemAlert problem={month.error} onRetry={() => void month.refetch()} />;
  }
  return (
    <Stack gap="md">
      <Stats label={t("overview.month.title")}>
        <Stat
          label={data === undefined ? t("overview.month.now") : t("overview.month.of", { month: monthName(data.from) })}
          value={data && <Money usd={data.cost_usd} short />}
          hint={data && t("overview.month.before", { cost: formatUsdShort(data.previous.cost_usd) })}
          {...(data === undefined ? {} : { change: { now: data.cost_usd, before: data.previous.cost_usd } })}
        />
        <Stat
          label={t("overview.month.forecast")}
          value={data && <Money usd={data.forecast_usd} short />}
          hint={t("overview.month.forecastHelp")}
          {...(data === undefined ? {} : { change: { now: data.forecast_usd, before: data.previous.whole_usd } })}
        />
        <Stat
          label={t("overview.month.budget")}
          value={data && <Budget month={data} />}
          hint={data && <BudgetHint month={data} />}
        />
        <Stat
          label={
            data === undefined
              ? t("overview.month.last")
              : t("overview.month.whole", { month: monthName(data.previous.from) })
          }
          value={data && <Money usd={data.previous.whole_usd} short />}
        />
      </Stats>
      {data !== undefined && <MonthChart month={data} />}
    </Stack>
  );
}

type Month = AnswerOf<"usage.month">;

function Budget({ month: { budget_usd: budget, cost_usd: cost } }: { readonly month: Month }) {
  if (budget === null) return <span className="stat-words">{t("overview.month.none")}</span>;
  const share = budget === 0 ? 1 : cost / budget;
  return (
    <>
      {formatShare(share)}
      <Progress
        value={Math.min(100, share * 100)}
        size={6}
        color={share >= 1 ? "var(--bad)" : share >= atRisk ? "var(--warn)" : "var(--busy)"}
        aria-label={t("overview.month.budgetUsed", { share: formatShare(share), budget: formatUsdShort(budget) })}
      />
    </>
  );
}

const atRisk = 0.8;

function BudgetHint({ month: { budget_usd: budget, forecast_usd: forecast } }: { readonly month: Month }) {
  const { all } = useWorkspace();
  if (budget === null) {
    return all ? (
      <Anchor size="xs" renderRoot={(props) => <Link to="/limits" search={{ kind: "budget" }} {...props} />}>
        {t("overview.month.allBudgets")}
      </Anchor>
    ) : null;
  }
  return t(forecast > budget ? "overview.month.over" : "overview.month.within", { budget: formatUsdShort(budget) });
}

/** Months are in UTC, like budgets. */
function monthName(at: number): string {
  return months.format(at);
}

const months = new Intl.DateTimeFormat(locale, { month: "long", timeZone: "UTC" });
