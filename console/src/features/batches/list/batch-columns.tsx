import type { ConsoleBatch } from "@sluice/contract";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Money, Nothing, When } from "../../../components/figures.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/batches.ts";
import { BatchProgress } from "../batch-progress.tsx";

const batch: Column<ConsoleBatch> = {
  id: "batch",
  header: t("batches.columns.batch"),
  cell: ({ name, api_id: id }) => <span className="break">{name === "" ? id : name}</span>,
};

const rest: readonly Column<ConsoleBatch>[] = [
  { id: "state", header: t("batches.state"), cell: ({ state }) => <StatusBadge status={state} /> },
  { id: "progress", header: t("batches.columns.progress"), cell: ({ rows }) => <BatchProgress rows={rows} /> },
  {
    id: "failed",
    header: t("batches.columns.failed"),
    align: "right",
    sortBy: ({ rows }) => rows.failed,
    cell: ({ rows }) => <Count value={rows.failed} />,
  },
  {
    id: "model",
    header: t("batches.columns.model"),
    cell: ({ model }) => <span className="break">{model === "" ? t("batches.columns.models") : model}</span>,
  },
  {
    id: "key",
    header: t("batches.columns.key"),
    cell: ({ key }) => (key.name ? <span className="task-key cut">{key.name}</span> : <Nothing />),
  },
  {
    id: "cost",
    header: t("batches.columns.cost"),
    align: "right",
    sortBy: ({ cost_usd: usd }) => usd,
    cell: ({ cost_usd: usd }) => <Money usd={usd} aligned />,
  },
  {
    id: "at",
    header: t("batches.columns.created"),
    align: "right",
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <When at={at} />,
  },
];

export const batchColumns: readonly Column<ConsoleBatch>[] = [batch, ...rest];
export const batchColumnsOfAll: readonly Column<ConsoleBatch>[] = [
  batch,
  { id: "workspace", header: t("batches.columns.workspace"), cell: ({ workspace }) => workspace.slug },
  ...rest,
];
