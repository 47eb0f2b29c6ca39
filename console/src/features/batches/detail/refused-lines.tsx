import type { BatchDetail } from "@sluice/contract";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count } from "../../../components/figures.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/batches.ts";

type Problem = BatchDetail["problems"][number];

/** The lines of the input that are wrong. */
export function RefusedLines({ problems }: { readonly problems: readonly Problem[] }) {
  return (
    <Section title={t("batches.problems.title")} description={t("batches.problems.help")} flush>
      <DataTable
        label={t("batches.problems.title")}
        columns={columns}
        rows={rowsOf(problems)}
        rowKey={({ line, code, message }) => `${line} ${code} ${message}`}
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<Problem>[] = [
  {
    id: "line",
    header: t("batches.problems.line"),
    cell: ({ line }) => (line === null ? t("batches.problems.whole") : <Count value={line} />),
  },
  {
    id: "message",
    header: t("batches.problems.message"),
    cell: ({ message }) => <span className="break">{message}</span>,
  },
  { id: "code", header: t("batches.problems.code"), cell: ({ code }) => <code className="break">{code}</code> },
];
