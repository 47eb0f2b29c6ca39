import { Anchor } from "@mantine/core";
import type { AnswerOf, UsageSeries } from "@sluice/contract";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Problem } from "../../client/problem.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Count, Duration, Money } from "../../components/figures.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/overview.ts";
import { useUrlSearch } from "../../routes/search.ts";
import { type Dimension, dimensionWords } from "./dimensions.ts";
import { Rate, Share } from "./line-figures.tsx";
import { attemptErrorRateOf, errorRateOf, latencyOf, lineName } from "./measures.ts";

type Line = UsageSeries["series"][number];

interface TopLinesProps {
  readonly usage: UseQueryResult<AnswerOf<"usage.series">, Problem>;
  readonly by: Dimension;
}

/** The lines of the chart as a table. Each line links to its requests. */
export function TopLines({ usage, by }: TopLinesProps) {
  const { range, from, to } = useUrlSearch();
  const whole = usage.data?.totals.cost_usd ?? 0;
  const columns = useMemo(() => columnsOf(by, whole), [by, whole]);
  // Reserves the space while loading; errors are shown at the chart.
  if (usage.data === undefined ? usage.error !== null : usage.data.series.length === 0) return null;
  const span = Object.fromEntries(Object.entries({ range, from, to }).filter(([, value]) => value !== undefined));
  return (
    <Section
      flush
      title={t("overview.lines.title", { by })}
      description={t("overview.lines.help")}
      actions={
        <Anchor size="sm" renderRoot={(props) => <Link to="/usage" search={{ ...span, by }} {...props} />}>
          {t("overview.lines.all")}
        </Anchor>
      }
    >
      <DataTable
        label={t("overview.lines.table", { by })}
        columns={columns}
        rows={rowsIn(usage, (answer) => answer.series)}
        rowKey={(line) => line.id}
        rowLink={(line): LinkProps => ({ to: "/requests", search: { ...span, ...filterOf(line, by) } })}
        dimmed={(line) => line.id === ""}
        empty={null}
      />
    </Section>
  );
}

function filterOf(line: Line, by: Dimension): Readonly<Record<string, string>> {
  return line.id === "" || isNobody(line, by) ? {} : { [by]: line.id };
}

/** Requests of keys without an owner. */
function isNobody({ id }: Line, by: Dimension): boolean {
  return by === "person" && id === "-";
}

function columnsOf(by: Dimension, whole: number): readonly Column<Line>[] {
  const ofAttempts = by === "provider";
  const rateOf = ofAttempts ? attemptErrorRateOf : errorRateOf;
  return [
    {
      id: "name",
      header: dimensionWords[by],
      cell: (line) => lineName(line, ofAttempts),
    },
    {
      id: "cost",
      header: t("overview.measure.spend"),
      cell: (line) => <Money usd={line.totals.cost_usd} aligned />,
      align: "right",
    },
    {
      id: "share",
      header: t("overview.lines.share"),
      cell: (line) => <Share of={line.totals.cost_usd} whole={whole} />,
      align: "right",
    },
    {
      id: "requests",
      header: t("overview.measure.requests"),
      cell: (line) => <Count value={line.totals.requests} />,
      align: "right",
    },
    {
      id: "errors",
      header: ofAttempts ? t("overview.lines.attemptsFailed") : t("overview.figures.errorRate"),
      cell: (line) => <Rate rate={rateOf(line.totals)} />,
      align: "right",
    },
    {
      id: "tokens",
      header: t("overview.measure.tokens"),
      cell: (line) => <Count value={line.totals.input_tokens + line.totals.output_tokens} short />,
      align: "right",
    },
    {
      id: "p50",
      header: t("overview.lines.median"),
      cell: ({ totals }) => <Duration ms={latencyOf(totals, "p50", ofAttempts)} />,
      align: "right",
    },
    {
      id: "p95",
      header: "p95",
      cell: ({ totals }) => <Duration ms={latencyOf(totals, "p95", ofAttempts)} />,
      align: "right",
    },
  ];
}
