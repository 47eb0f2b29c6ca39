import type { BatchDetail } from "@sluice/contract";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count, Nothing } from "../../../components/figures.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/batches.ts";

type FailedRow = BatchDetail["failed_rows"][number];

/** The first failed rows, each with a link to its request. */
export function FailedRows({ batch }: { readonly batch: BatchDetail }) {
  const { failed_rows: failed, rows, workspace } = batch;
  return (
    <Section
      title={t("batches.failed.title")}
      {...(rows.failed > failed.length ? { description: t("batches.failed.help", { count: failed.length }) } : {})}
      flush
    >
      <DataTable
        label={t("batches.failed.title")}
        columns={columns}
        rows={rowsOf(failed)}
        rowKey={({ request_id: id }) => id}
        rowLink={({ request_id: request }) => ({
          to: "/requests/$request",
          params: { request },
          search: { workspace: workspace.slug },
        })}
        empty={t("batches.failed.none")}
      />
    </Section>
  );
}

const columns: readonly Column<FailedRow>[] = [
  {
    id: "custom_id",
    header: t("batches.failed.customId"),
    cell: ({ custom_id: id }) => <span className="break">{id}</span>,
  },
  { id: "row", header: t("batches.failed.row"), align: "right", cell: ({ row }) => <Count value={row} /> },
  { id: "status", header: t("batches.failed.status"), align: "right", cell: ({ status }) => status ?? <Nothing /> },
  {
    id: "code",
    header: t("batches.failed.code"),
    cell: ({ code }) => (code === null ? <Nothing /> : <code className="break">{code}</code>),
  },
];
