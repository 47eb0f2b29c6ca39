import { Box, SegmentedControl, Select, Skeleton, Text } from "@mantine/core";
import { Chart } from "../../components/chart.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/overview.ts";
import { useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { dimensions, dimensionWords, isDimension } from "./dimensions.ts";
import { chartOf, isMeasure, isTimed, measures, measureWords } from "./measures.ts";
import { TopLines } from "./top-lines.tsx";
import { useUsage } from "./use-usage.ts";

const chartHeight = 280;
const shown = measures.map((value) => ({ value, label: measureWords[value] }));
const minuteMs = 60_000;

/** One measure over time, apart by model, provider, key …, and below it the lines with their shares. */
export function UsageSection() {
  const { all } = useWorkspace();
  const [askedMeasure, setMeasure] = useUrlText("show", "spend");
  const [askedBy, setBy] = useUrlText("by", "model");
  const [askedPercentile, setPercentile] = useUrlText("percentile", "p50");
  const measure = isMeasure(askedMeasure) ? askedMeasure : "spend";
  const percentile = askedPercentile === "p95" ? "p95" : "p50";
  const by = isDimension(askedBy) && (all || askedBy !== "workspace") ? askedBy : "model";
  const usage = useUsage(by);
  const choices = dimensions
    .filter((each) => all || each !== "workspace")
    .map((value) => ({ value, label: t("overview.by", { lowerCase: dimensionWords[value].toLowerCase() }) }));
  const step = stepWord(usage.data?.step_ms ?? 1_440 * minuteMs);
  const percentileNote = percentile === "p50" ? "median" : t("overview.n95thPercentile");
  const what = isTimed(measure)
    ? `${measureWords[measure]}, ${percentileNote}, of each ${step}`
    : measure === "errors"
      ? `${by === "provider" ? t("overview.failedAttempts") : t("overview.failedRequests")} by ${step}`
      : `${measureWords[measure]} by ${step}`;
  return (
    <>
      <Section
        title={t("overview.usage")}
        description={what}
        actions={
          <>
            {isTimed(measure) && (
              <SegmentedControl
                aria-label={t("overview.percentile")}
                data={[
                  { value: "p50", label: "p50" },
                  { value: "p95", label: "p95" },
                ]}
                value={percentile}
                onChange={setPercentile}
              />
            )}
            <Select
              aria-label={t("overview.apartBy")}
              size="xs"
              w={140}
              data={choices}
              value={by}
              onChange={(value) => setBy(value ?? "model")}
              allowDeselect={false}
            />
          </>
        }
      >
        <Box visibleFrom="sm" mb="md">
          <SegmentedControl aria-label={t("overview.whatIsShown")} data={shown} value={measure} onChange={setMeasure} />
        </Box>
        <Select
          hiddenFrom="sm"
          mb="md"
          aria-label={t("overview.whatIsShown")}
          data={shown}
          value={measure}
          onChange={(value) => setMeasure(value ?? "spend")}
          allowDeselect={false}
        />
        {usage.data !== undefined ? (
          usage.data.totals.attempts === 0 ? (
            <Text ta="center" c="dimmed" fz="sm" py="xl">
              {t("overview.noRequestsInThisTime")}
            </Text>
          ) : (
            <Chart
              {...chartOf(usage.data, measure, percentile, by === "provider")}
              label={t("overview.by2", { what, lowerCase: dimensionWords[by].toLowerCase() })}
              height={chartHeight}
            />
          )
        ) : usage.error !== null ? (
          <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />
        ) : (
          <Skeleton height={chartHeight} />
        )}
      </Section>
      <TopLines usage={usage} by={by} />
    </>
  );
}

function stepWord(stepMs: number): string {
  const minutes = stepMs / minuteMs;
  if (minutes >= 60) return minutes === 60 ? "hour" : "day";
  return minutes === 1 ? "minute" : t("overview.minutes", { minutes });
}
