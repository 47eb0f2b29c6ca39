import { Group, Select, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import { Chart } from "../../../components/chart.tsx";
import { Count, Duration, Money, Share } from "../../../components/figures.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { TimeRange } from "../../../components/time-range.tsx";
import { useTimeRange } from "../../../components/use-time-range.ts";
import { t } from "../../../language/areas/models.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { TopRows } from "../../overview/top-rows.tsx";
import { errorRateOf, isMeasure, type Measure, measures, valuesOf } from "../../usage/measures.ts";
import { spanSearch } from "../../usage/usage-view.ts";
import { ModelFacts } from "./model-facts.tsx";
import { useModelUsage } from "./use-model-usage.ts";

const fallback = "7d";
const chartHeight = 240;
const shown: readonly Measure[] = ["cost", "requests", "errors", "p50"];

/** Usage of a model in the chosen range, who caused it, and facts about the model. */
export function UsagePanel({ model }: { readonly model: ConsoleModel }) {
  const { may } = useWorkspace();
  const range = useTimeRange(fallback);
  const { from, to, compared } = range;
  const span = { from, to, compare_from: compared.from, compare_to: compared.to };
  const top = { span, period: spanSearch(range), model: model.name };
  return (
    <Stack gap="lg">
      <Group justify="flex-end">
        <TimeRange fallback={fallback} />
      </Group>
      <ModelUsageFigures model={model.name} />
      <UsageChart model={model.name} />
      <SimpleGrid cols={{ base: 1, md: may("admin") ? 2 : 1 }} spacing="md">
        <TopRows {...top} by="key" title={t("models.usage.keys")} />
        {may("admin") && <TopRows {...top} by="person" title={t("models.usage.people")} />}
      </SimpleGrid>
      <ModelFacts model={model} />
    </Stack>
  );
}

function ModelUsageFigures({ model }: { readonly model: string }) {
  const usage = useModelUsage(model, fallback);
  const { totals, previous } = usage.data ?? {};
  const change = (figure: (figures: NonNullable<typeof totals>) => number | null) =>
    totals === undefined || previous === undefined ? {} : { change: { now: figure(totals), before: figure(previous) } };
  return (
    <Stats label={t("models.usage.figures")}>
      <Stat
        label={t("models.usage.cost")}
        value={totals && <Money usd={totals.cost_usd} short />}
        {...change(({ cost_usd }) => cost_usd)}
      />
      <Stat
        label={t("models.usage.requests")}
        value={totals && <Count value={totals.requests} short />}
        {...change(({ requests }) => requests)}
      />
      <Stat
        label={t("models.usage.errorRate")}
        value={totals && <Share share={errorRateOf(totals)} />}
        {...change(errorRateOf)}
        better="less"
      />
      <Stat
        label={t("models.usage.median")}
        value={totals && <Duration ms={totals.request_latency_p50_ms} />}
        {...change(({ request_latency_p50_ms }) => request_latency_p50_ms)}
        better="less"
      />
      <Stat
        label={t("models.usage.slow")}
        value={totals && <Duration ms={totals.request_latency_p95_ms} />}
        {...change(({ request_latency_p95_ms }) => request_latency_p95_ms)}
        better="less"
      />
    </Stats>
  );
}

function UsageChart({ model }: { readonly model: string }) {
  const [asked, setMeasure] = useUrlText("show", "cost");
  const measure = isMeasure(asked) && shown.includes(asked) ? asked : "cost";
  const spec = measures[measure];
  const usage = useModelUsage(model, fallback);
  const { data } = usage;
  return (
    <Section
      title={t("models.usage.title")}
      actions={
        <Select
          aria-label={t("models.usage.measure")}
          size="xs"
          w={140}
          data={shown.map((value) => ({ value, label: measures[value].label }))}
          allowDeselect={false}
          value={measure}
          onChange={(next) => setMeasure(next ?? "cost")}
        />
      }
    >
      {data === undefined ? (
        usage.error === null ? (
          <Skeleton height={chartHeight} />
        ) : (
          <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />
        )
      ) : data.totals.attempts === 0 ? (
        <Text ta="center" c="dimmed" fz="sm" py="xl">
          {t("models.usage.none")}
        </Text>
      ) : (
        <Chart
          kind={spec.isSum ? "bar" : "line"}
          label={t("models.usage.chart", { measure: spec.label, model })}
          at={data.at}
          stepMs={data.step_ms}
          format={spec.format}
          series={data.series.map(({ points }) => ({
            id: model,
            label: model,
            values: valuesOf(points, spec, data.at.length),
          }))}
          height={chartHeight}
        />
      )}
    </Section>
  );
}
