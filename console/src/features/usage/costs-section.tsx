import { Button } from "@mantine/core";
import { IconDownload, IconReceipt } from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { formatShare } from "../../client/format.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Count, Money, Nothing } from "../../components/figures.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import type { TimeSpan } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/usage.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { saveAs } from "../settings/save-as.ts";
import { type CostLine, costsCsv, differenceOf } from "./costs-csv.ts";
import { spanSearch } from "./usage-view.ts";

/** Compares vendor costs with your prices, to find wrong prices. */
export function CostsSection({ span }: { readonly span: TimeSpan }) {
  const workspace = useWorkspace();
  const { from, to } = span;
  const costs = useCall("usage.costs", {
    params: { workspace: workspace.path },
    query: { from, to },
    keepBefore: true,
  });
  const save = (lines: readonly CostLine[]) => {
    const days = [from, to].map((at) => new Date(at).toISOString().slice(0, 10));
    saveAs(new Blob([costsCsv(lines)], { type: "text/csv" }), `costs-${days.join("-to-")}.csv`);
  };
  const lines = costs.data?.data ?? [];
  return (
    <Section
      flush
      title={t("usage.costs.title")}
      description={t("usage.costs.help")}
      actions={
        <Button
          variant="default"
          leftSection={<IconDownload size={15} />}
          disabled={lines.length === 0}
          onClick={() => save(lines)}
        >
          {t("usage.rows.export")}
        </Button>
      }
    >
      <DataTable
        label={t("usage.costs.title")}
        columns={columns}
        rows={rowsIn(costs, ({ data }) => data)}
        rowKey={({ provider, model }) => `${provider} ${model}`}
        rowLink={({ provider, model }): LinkProps => ({
          to: "/requests",
          search: { ...spanSearch(span), provider, model },
        })}
        dimmed={({ vendor_cost_usd: vendor }) => vendor === null}
        empty={
          <EmptyState icon={<IconReceipt />} title={t("usage.empty")}>
            {t("usage.costs.none")}
          </EmptyState>
        }
      />
    </Section>
  );
}

const columns: readonly Column<CostLine>[] = [
  {
    id: "provider",
    header: t("usage.by.provider"),
    cell: ({ provider }) => provider,
    sortBy: (line) => line.provider,
  },
  { id: "model", header: t("usage.by.model"), cell: ({ model }) => model, sortBy: (line) => line.model },
  {
    id: "attempts",
    header: t("usage.costs.attempts"),
    cell: ({ attempts }) => <Count value={attempts} />,
    sortBy: (line) => line.attempts,
    align: "right",
  },
  money("cost", t("usage.costs.charged"), (line) => line.cost_usd),
  money("own", t("usage.costs.own"), (line) => line.own_cost_usd),
  money("vendor", t("usage.costs.vendor"), (line) => line.vendor_cost_usd),
  {
    id: "difference",
    header: t("usage.costs.difference"),
    cell: (line) => <Difference line={line} />,
    sortBy: differenceOf,
    align: "right",
  },
];

function money(id: string, header: string, usd: (line: CostLine) => number | null): Column<CostLine> {
  return { id, header, cell: (line) => <Money usd={usd(line)} aligned />, sortBy: usd, align: "right" };
}

function Difference({ line }: { readonly line: CostLine }) {
  const difference = differenceOf(line);
  if (difference === null) return <Nothing word={t("usage.costs.notReported")} />;
  const { own_cost_usd: own } = line;
  return (
    <>
      <Money usd={difference} />
      {own !== null && own > 0 && difference !== 0 && ` (${formatShare(difference / own)})`}
    </>
  );
}
