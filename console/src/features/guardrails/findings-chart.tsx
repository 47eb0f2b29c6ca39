import { Select } from "@mantine/core";
import { type FindingsDimension, findingsDimensions, type GuardrailFindings } from "@sluice/contract";
import { Chart } from "../../components/chart.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { useUrlChange } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { verdictWord } from "./check-columns.tsx";
import { narrowedTo, shadowPrefix } from "./findings-view.ts";

const chartHeight = 240;

const dimensionWords: Readonly<Record<FindingsDimension, string>> = {
  verdict: t("guardrails.findings.byResult"),
  type: t("guardrails.findings.byType"),
  guardrail: t("guardrails.findings.byGuardrail"),
  person: t("guardrails.findings.byPerson"),
  key: t("guardrails.findings.byKey"),
};

interface FindingsChartProps {
  readonly findings: GuardrailFindings;
  readonly by: FindingsDimension;
}

/** Findings over time, split by one dimension. A value of the legend becomes a filter. */
export function FindingsChart({ findings, by }: FindingsChartProps) {
  const change = useUrlChange();
  const { may } = useWorkspace();
  const { at, series, step_ms: stepMs } = findings;
  const offered = findingsDimensions.filter((each) => each !== "person" || may("admin"));
  return (
    <Section
      title={t("guardrails.findings.overTime")}
      actions={
        <Select
          aria-label={t("guardrails.findings.splitBy")}
          size="xs"
          w={170}
          data={offered.map((value) => ({ value, label: dimensionWords[value] }))}
          value={by}
          onChange={(value) => change({ by: value === "verdict" ? "" : (value ?? "") })}
          allowDeselect={false}
        />
      }
    >
      <Chart
        kind="bar"
        label={t("guardrails.findings.chart", { by: dimensionWords[by] })}
        at={at}
        stepMs={stepMs}
        height={chartHeight}
        series={series.map(({ id, label, values }) => ({
          ...{ id, values, label: seriesLabel(by, id, label) },
          quiet: id === "" || id === "-",
        }))}
        onSelect={(id) => {
          const narrowed = narrowedTo(by, id);
          if (narrowed !== null) change(narrowed);
          // The rest is in the list.
          else document.querySelector("#findings-list")?.scrollIntoView({ behavior: "smooth" });
        }}
      />
    </Section>
  );
}

function seriesLabel(by: FindingsDimension, id: string, label: string): string {
  if (id === "") return t("guardrails.findings.rest");
  if (id === "-") return t("guardrails.findings.noPerson");
  if (by !== "verdict") return label;
  const isShadow = id.startsWith(shadowPrefix);
  return verdictWord(isShadow ? id.slice(shadowPrefix.length) : id, !isShadow);
}
