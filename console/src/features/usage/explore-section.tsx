import { Group, Select, Skeleton, Text } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { Chart } from "../../components/chart.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/usage.ts";
import { locale } from "../../language/chosen.ts";
import { useUrlChange } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { type BudgetScope, useBudgetMarks } from "../limits/budget-marks.ts";
import { isMeasure, measures, valuesOf } from "./measures.ts";
import { rowName } from "./row-names.ts";
import { drillDown, offeredDimensions, type UsageView, zoneOf } from "./usage-view.ts";
import { useUsageSeries } from "./use-usage-series.ts";

const chartHeight = 300;

/** One measure over time, split by one dimension, with the period before as a dashed line. */
export function ExploreSection({ view }: { readonly view: UsageView }) {
  const { all, slug, may } = useWorkspace();
  const change = useUrlChange();
  const { by, span, tag } = view;
  const spec = measures[view.measure];
  const usage = useUsageSeries(view, by, spec.figures);
  const { data } = usage;
  const budgets = useBudgetMarks(budgetScopeOf(view, slug), data?.step_ms);
  const select = (id: string) => {
    const line = data?.series.find((each) => each.id === id);
    if (line === undefined || by === "none") return;
    if (id !== "") return change(drillDown(by, line));
    // The rest follows the drawn rows in the table, which has every row.
    change({ order: "-cost_usd", search: "" });
    document.querySelector("#usage-rows")?.scrollIntoView({ behavior: "smooth" });
  };
  return (
    <Section
      title={spec.label}
      description={<Period view={view} />}
      actions={
        <Group gap="xs">
          <Select
            aria-label={t("usage.measure.title")}
            size="xs"
            w={170}
            data={Object.entries(measures).map(([value, { label }]) => ({ value, label }))}
            value={view.measure}
            onChange={(value) => change({ show: value !== null && isMeasure(value) ? value : "", order: "" })}
            allowDeselect={false}
          />
          <Select
            aria-label={t("usage.groupBy")}
            size="xs"
            w={150}
            data={offeredDimensions(all, may("admin")).map((value) => ({ value, label: t(`usage.grouped.${value}`) }))}
            value={by}
            onChange={(value) => change({ by: value ?? "", search: "", order: "" })}
            allowDeselect={false}
          />
          {(by === "tag" || view.filters.tag_value !== undefined) && <TagChoice view={view} />}
        </Group>
      }
    >
      {by === "tag" && tag === "" ? null : data === undefined ? (
        usage.error === null ? (
          <Skeleton height={chartHeight} />
        ) : (
          <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />
        )
      ) : data.totals.attempts === 0 ? (
        <Text ta="center" c="dimmed" fz="sm" py="xl">
          {t("usage.empty")}
        </Text>
      ) : (
        <Chart
          kind={spec.isSum ? "bar" : "line"}
          label={t("usage.chart", { measure: spec.label, by: t(`usage.grouped.${by}`) })}
          at={data.at}
          stepMs={data.step_ms}
          localDays={!span.utc}
          height={chartHeight}
          format={spec.format}
          series={data.series.map((line) => ({
            id: line.id,
            label: by === "none" ? spec.label : rowName(line, by),
            values: valuesOf(line.points, spec, data.at.length),
            quiet: line.id === "" && by !== "none",
          }))}
          marks={budgets}
          ghost={{ label: t("usage.previous"), values: valuesOf(data.previous_points, spec, data.at.length) }}
          {...(by === "none" ? {} : { onSelect: select })}
        />
      )}
    </Section>
  );
}

/** Returns the workspace, group, key or person if the chart shows the spend of exactly one; otherwise null. */
function budgetScopeOf({ measure, filters }: UsageView, slug: string | null): BudgetScope | null {
  if (measure !== "cost") return null;
  const [[name, id] = [], ...others] = Object.entries(filters);
  const workspace = slug ?? "-";
  if (name === undefined) return slug === null ? null : { workspace, scope: "workspace", id: null };
  const scope = (["key", "group", "person"] as const).find((each) => each === name);
  return scope === undefined || id === undefined || id === "-" || others.length > 0 ? null : { workspace, scope, id };
}

/** The exact period, its time zone, and the period that it is compared with. */
function Period({ view: { span } }: { readonly view: UsageView }) {
  const zone = zoneOf(span);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: zone });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: zone });
  const isShort = span.to - span.from <= 172_800_000;
  const text = (at: number) => (isShort ? moment : day).format(at);
  const before = `${text(span.compared.from)} – ${text(span.compared.to - 1)}`;
  return t("usage.period", { from: text(span.from), to: text(span.to - 1), zone, before });
}

/** The tag that is grouped or filtered by; the first one of the period if none was chosen. */
function TagChoice({ view: { tag, span } }: { readonly view: UsageView }) {
  const { path } = useWorkspace();
  const change = useUrlChange();
  const tags = useCall("usage.tags", { params: { workspace: path }, query: { from: span.from, to: span.to } });
  const names = tags.data?.data ?? [];
  if (tags.data !== undefined && names.length === 0 && tag === "") {
    return (
      <Text fz="xs" c="dimmed">
        {t("usage.tag.none")}
      </Text>
    );
  }
  return (
    <Select
      aria-label={t("usage.tag.choose")}
      placeholder={t("usage.tag.choose")}
      size="xs"
      w={140}
      data={tag === "" || names.includes(tag) ? names : [tag, ...names]}
      value={tag === "" ? null : tag}
      onChange={(value) => change({ tag: value ?? "", tag_value: "" })}
      searchable={names.length > 8}
      defaultDropdownOpened={tag === ""}
    />
  );
}
