import { Skeleton, Stack } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { formatUsdShort } from "../../../client/format.ts";
import { Chart } from "../../../components/chart.tsx";
import { Count, Money, Share } from "../../../components/figures.tsx";
import { modelLabel } from "../../../components/model-label.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { TimeRange } from "../../../components/time-range.tsx";
import { useTimeRange } from "../../../components/use-time-range.ts";
import { t } from "../../../language/areas/keys.ts";
import { useBudgetMarks } from "../../limits/budget-marks.ts";

const fallback = "7d";

/** Spend of the key over time, by model. */
export function KeyUsage({ item }: { readonly item: ConsoleKey }) {
  const { from, to, step } = useTimeRange(fallback);
  const query = useCall("usage.series", {
    params: { workspace: item.workspace.slug },
    query: { from, to, step, by: "model", key: item.id },
    keepBefore: true,
  });
  const usage = query.data;
  const marks = useBudgetMarks({ workspace: item.workspace.slug, scope: "key", id: item.id }, usage?.step_ms);
  return (
    <Section
      title={t("keys.usage.title")}
      description={
        <Link to="/requests" search={{ workspace: item.workspace.slug, key: item.id }} className="text-link">
          {t("keys.usage.requests")}
        </Link>
      }
      actions={<TimeRange fallback={fallback} />}
    >
      {query.error !== null ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Stack gap="md">
          <Stats label={t("keys.usage.figures")}>
            <Stat
              label={t("keys.usage.cost")}
              value={usage && <Money usd={usage.totals.cost_usd} short />}
              {...(usage && { change: { now: usage.totals.cost_usd, before: usage.previous.cost_usd } })}
            />
            <Stat label={t("keys.usage.count")} value={usage && <Count value={usage.totals.requests} short />} />
            <Stat
              label={t("keys.usage.tokens")}
              value={usage && <Count value={usage.totals.input_tokens + usage.totals.output_tokens} short />}
            />
            <Stat label={t("keys.usage.cacheReads")} value={usage && <Share share={usage.totals.cache_read_share} />} />
            <Stat label={t("keys.usage.failed")} value={usage && <Count value={usage.totals.failed} short />} />
          </Stats>
          {/* Reserves the space of the chart, so that content below does not move when it is loaded. */}
          {usage === undefined && item.last_used_at !== null && <Skeleton height={187} />}
          {usage !== undefined && usage.totals.requests > 0 && (
            <Chart
              kind="bar"
              label={t("keys.usage.costByModel")}
              at={usage.at}
              stepMs={usage.step_ms}
              height={160}
              format={formatUsdShort}
              marks={marks}
              series={usage.series.map(({ id, label, points }) => ({
                id,
                label: modelLabel(label),
                quiet: id === "",
                values: points.cost_usd ?? [],
              }))}
            />
          )}
        </Stack>
      )}
    </Section>
  );
}
