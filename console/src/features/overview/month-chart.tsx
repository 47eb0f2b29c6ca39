import { Skeleton } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { formatUsdShort } from "../../client/format.ts";
import { Chart } from "../../components/chart.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/overview.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { monthsBefore } from "../own-usage/months.ts";
import { forecastLine, sumsSoFar } from "./month-lines.ts";

const chartHeight = 200;
const dayMs = 86_400_000;

/** The spend of the month day by day, added up, with the forecast and the budget. */
export function MonthChart({ month }: { readonly month: AnswerOf<"usage.month"> }) {
  const { path } = useWorkspace();
  const { from, to, forecast_usd: forecast, budget_usd: budget } = month;
  const end = monthsBefore(from, -1);
  const usage = useCall("usage.series", {
    params: { workspace: path },
    query: { from, to: end, step: "day", by: "none" },
    keepBefore: true,
  });
  const { data } = usage;
  const sums = data && sumsSoFar(data.at, data.series[0]?.points.cost_usd ?? [], to);
  return (
    <Section title={t("overview.month.chart")}>
      {data === undefined || sums === undefined ? (
        usage.error === null ? (
          <Skeleton height={chartHeight} />
        ) : (
          <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />
        )
      ) : (
        <Chart
          kind="line"
          label={t("overview.month.chart")}
          at={data.at}
          stepMs={dayMs}
          height={chartHeight}
          format={formatUsdShort}
          series={[
            { id: "spend", label: t("overview.month.spent"), values: sums },
            {
              id: "forecast",
              label: t("overview.month.forecast"),
              values: forecastLine(sums, forecast),
              quiet: true,
              dashed: true,
            },
          ]}
          marks={
            budget === null
              ? []
              : [
                  {
                    kind: "budget",
                    value: budget,
                    label: t("overview.month.budgetLine", {
                      budget: formatUsdShort(budget),
                      forecast: formatUsdShort(forecast),
                    }),
                  },
                ]
          }
        />
      )}
    </Section>
  );
}
