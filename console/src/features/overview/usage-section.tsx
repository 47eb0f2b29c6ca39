import { Box, SegmentedControl, Select, Skeleton, Text } from "@mantine/core";
import { lazy, Suspense } from "react";
import { Chart } from "../../components/chart.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/overview.ts";
import { loadChunk } from "../../routes/load-chunk.ts";
import { useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { dimensions, isDimension } from "./dimensions.ts";
import {
  chartOf,
  figuresOf,
  isMeasure,
  isTimed,
  type Measure,
  measures,
  measureWords,
  type Percentile,
} from "./measures.ts";
import { TopLines } from "./top-lines.tsx";
import { useUsage } from "./use-usage.ts";

// Rarely used, so it loads on demand.
const CostsSection = lazy(async () => ({
  default: (await loadChunk(() => import("./costs-section.tsx"))).CostsSection,
}));
const PeopleSection = lazy(async () => ({
  default: (await loadChunk(() => import("./people-section.tsx"))).PeopleSection,
}));

const chartHeight = 280;
const shown = measures.map((value) => ({ value, label: measureWords[value] }));
const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

/** One measure over time, split by model, provider, key …, and below it the lines with their shares. */
export default function UsageSection() {
  const { all, may } = useWorkspace();
  // Only users who manage people may see the spend of each.
  const ways = dimensions.filter((each) => (all || each !== "workspace") && (each !== "person" || may("admin")));
  const [askedMeasure, setMeasure] = useUrlText("show", "spend");
  const [askedBy, setBy] = useUrlText("by", "model");
  const [askedPercentile, setPercentile] = useUrlText("percentile", "p50");
  const measure = isMeasure(askedMeasure) ? askedMeasure : "spend";
  const percentile = askedPercentile === "p95" ? "p95" : "p50";
  const by = isDimension(askedBy) && ways.includes(askedBy) ? askedBy : "model";
  const ofAttempts = by === "provider";
  const usage = useUsage(by, figuresOf(measure, percentile, ofAttempts));
  const what = t("overview.usage.what", {
    measure: chartName(measure, percentile, ofAttempts),
    minutes: (usage.data?.step_ms ?? dayMs) / minuteMs,
  });
  return (
    <>
      <Section
        title={t("overview.usage.title")}
        description={what}
        actions={
          <>
            {isTimed(measure) && (
              <SegmentedControl
                aria-label={t("overview.usage.percentile")}
                data={percentiles}
                value={percentile}
                onChange={setPercentile}
              />
            )}
            <Select
              aria-label={t("overview.usage.groupBy")}
              size="xs"
              w={140}
              data={ways.map((value) => ({ value, label: t("overview.lines.title", { by: value }) }))}
              value={by}
              onChange={(value) => setBy(value ?? "model")}
              allowDeselect={false}
            />
          </>
        }
      >
        <MeasureChoice value={measure} onChange={setMeasure} />
        {usage.data !== undefined ? (
          usage.data.totals.attempts === 0 ? (
            <Text ta="center" c="dimmed" fz="sm" py="xl">
              {t("overview.usage.empty")}
            </Text>
          ) : (
            <Chart
              {...chartOf(usage.data, measure, percentile, ofAttempts)}
              label={t("overview.usage.chart", { what, by })}
              height={chartHeight}
            />
          )
        ) : usage.error !== null ? (
          <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />
        ) : (
          <Skeleton height={chartHeight} />
        )}
      </Section>
      {by === "person" ? (
        usage.data !== undefined &&
        usage.data.totals.attempts > 0 && (
          <Suspense fallback={<Skeleton height={chartHeight} />}>
            <PeopleSection whole={usage.data.totals.cost_usd} />
          </Suspense>
        )
      ) : (
        <TopLines usage={usage} by={by} />
      )}
      {usage.data !== undefined && usage.data.totals.vendor_cost_usd !== null && (
        <Suspense fallback={<Skeleton height={chartHeight} />}>
          <CostsSection />
        </Suspense>
      )}
    </>
  );
}

const percentiles = [
  { value: "p50", label: "p50" },
  { value: "p95", label: "p95" },
];

interface MeasureChoiceProps {
  readonly value: Measure;
  readonly onChange: (measure: string) => void;
}

/** A row of buttons if there is room, else a select. */
function MeasureChoice({ value, onChange }: MeasureChoiceProps) {
  return (
    <>
      <Box visibleFrom="sm" mb="md">
        <SegmentedControl aria-label={t("overview.usage.measure")} data={shown} value={value} onChange={onChange} />
      </Box>
      <Select
        hiddenFrom="sm"
        mb="md"
        aria-label={t("overview.usage.measure")}
        data={shown}
        value={value}
        onChange={(next) => onChange(next ?? "spend")}
        allowDeselect={false}
      />
    </>
  );
}

/** The parameters that select the chart's texts. */
function chartName(measure: Measure, percentile: Percentile, ofAttempts: boolean): string {
  if (measure === "errors" && ofAttempts) return "attempts";
  if (measure === "latency") return percentile;
  return measure === "first-token" ? (percentile === "p50" ? "first50" : "first95") : measure;
}
