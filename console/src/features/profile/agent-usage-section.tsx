import { Stack } from "@mantine/core";
import type { AgentUsageRow } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Count, Money, Nothing } from "../../components/figures.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";

/** This month's usage of the user's agents, and the rest of their budgets. */
export function AgentUsageSection() {
  const usage = useCall("agents.usage", {});
  if (usage.data?.data.length === 0) return null;
  return (
    <Section flush title={t("profile.usage.title")} description={t("profile.usage.help")}>
      <DataTable
        label={t("profile.usage.title")}
        columns={columns}
        rows={rowsIn(usage, (answer) => answer.data)}
        rowKey={(row) => row.key}
        sortedBy="-cost"
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<AgentUsageRow>[] = [
  {
    id: "workspace",
    header: t("profile.agents.workspace"),
    cell: (row) => (
      <>
        {row.workspace.slug} / {row.group}
      </>
    ),
  },
  {
    id: "requests",
    header: t("profile.usage.requests"),
    align: "right",
    cell: (row) => <Count value={row.requests} />,
  },
  {
    id: "cost",
    header: t("profile.usage.cost"),
    align: "right",
    cell: (row) => <Money usd={row.cost_usd} aligned />,
    sortBy: (row) => row.cost_usd,
  },
  { id: "budgets", header: t("profile.usage.budgets"), cell: (row) => <Budgets row={row} /> },
];

function Budgets({ row }: { readonly row: AgentUsageRow }) {
  const budgets = row.limits.filter(({ kind }) => kind === "budget");
  if (budgets.length === 0) return <Nothing />;
  return (
    <Stack gap={2}>
      {budgets.map(({ scope, period, used, limit }) => (
        <span key={`${scope} ${period}`}>
          {t(`profile.usage.scope.${scope}`)}: {used === null ? <Nothing /> : <Money usd={used} />} /{" "}
          <Money usd={limit} /> {period !== null && t(`profile.usage.period.${period}`)}
        </span>
      ))}
    </Stack>
  );
}
