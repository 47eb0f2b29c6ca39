import { SegmentedControl, Skeleton, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { formatUsdShort } from "../../client/format.ts";
import { Chart } from "../../components/chart.tsx";
import { Count, Money } from "../../components/figures.tsx";
import { modelLabel } from "../../components/model-label.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { useTimeRange } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/profile.ts";
import { useUrlText } from "../../routes/search.ts";
import { useBudgetMarks } from "../limits/budget-marks.ts";
import { monthsBefore, spendByDay, spendByMonth } from "./months.ts";

const chartHeight = 220;
const dayMs = 86_400_000;
const monthMs = 30 * dayMs;
/** Includes the current one. */
const monthsShown = 12;

const choices = [
  { value: "day", label: t("profile.own.spend.byDay") },
  { value: "month", label: t("profile.own.spend.byMonth") },
];

interface SpendSectionProps {
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  /** The calls of a person or of a group. */
  readonly of: { readonly person: string } | { readonly group: string };
  /** Above the chart; default: the totals of its period. */
  readonly figures?: ReactNode;
}

/** Spend by model: the last 30 days or 12 months. */
export function SpendSection({ workspace, of, figures }: SpendSectionProps) {
  const [asked, choose] = useUrlText("step", "day");
  const monthly = asked === "month";
  const range = useTimeRange("30d");
  const from = monthly ? monthsBefore(range.to, monthsShown - 1) : range.from;
  const usage = useCall("usage.series", {
    params: { workspace },
    query: { from, to: range.to, step: "day", by: "model", ...of },
    keepBefore: true,
  });
  const { totals, step_ms: stepMs } = usage.data ?? {};
  const marks = useBudgetMarks(
    "person" in of ? { workspace, scope: "person", id: of.person } : { workspace, scope: "group", id: of.group },
    monthly ? "month" : stepMs,
  );
  const shown = usage.data && (monthly ? spendByMonth(usage.data) : spendByDay(usage.data));
  return (
    <Section
      title={t("profile.own.spend.title")}
      description={monthly ? t("profile.own.spend.months") : t("profile.own.spend.days")}
      actions={
        <SegmentedControl
          aria-label={t("profile.own.spend.step")}
          data={choices}
          value={monthly ? "month" : "day"}
          onChange={choose}
        />
      }
    >
      {usage.error !== null && <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />}
      <Stack gap="md">
        {figures ?? (
          <Stats label={t("profile.own.spend.figures")}>
            <Stat label={t("profile.usage.cost")} value={totals && <Money usd={totals.cost_usd} short />} />
            <Stat label={t("profile.usage.requests")} value={totals && <Count value={totals.requests} short />} />
            <Stat
              label={t("profile.own.spend.tokens")}
              value={totals && <Count value={totals.input_tokens + totals.output_tokens} short />}
            />
          </Stats>
        )}
        {shown === undefined ? (
          usage.error === null && <Skeleton height={chartHeight} />
        ) : totals?.requests === 0 ? (
          <Text ta="center" c="dimmed" fz="sm" py="md">
            {t("profile.own.spend.empty")}
          </Text>
        ) : (
          <Chart
            kind="bar"
            label={monthly ? t("profile.own.spend.chartByMonth") : t("profile.own.spend.chartByDay")}
            at={shown.at}
            stepMs={monthly ? monthMs : (stepMs ?? dayMs)}
            height={chartHeight}
            format={formatUsdShort}
            marks={marks}
            series={shown.series.map((line) => ({
              ...line,
              label: line.id === "" ? t("profile.own.spend.rest") : modelLabel(line.label),
              quiet: line.id === "",
            }))}
          />
        )}
      </Stack>
    </Section>
  );
}
