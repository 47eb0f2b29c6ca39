import type { Rehearsal } from "@sluice/contract";
import { IconTestPipe } from "@tabler/icons-react";
import { usePages } from "../../../api/use-pages.ts";
import { formatMoment } from "../../../client/format.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { When } from "../../../components/figures.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import { changeWords } from "../change-words.ts";

const refreshMs = 5_000;

/** The user's rehearsals of the last day, newest first. */
export default function RehearsalsPage() {
  const rows = usePages("rehearsals.list", { everyMs: refreshMs });
  return (
    <PageFrame title={t("rehearsals.title")} description={t("rehearsals.help")}>
      <DataTable
        label={t("rehearsals.title")}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: "/rehearsals/$rehearsal", params: { rehearsal: id } })}
        empty={
          <EmptyState icon={<IconTestPipe />} title={t("rehearsals.list.none")}>
            {t("rehearsals.list.noneHelp")}
          </EmptyState>
        }
      />
    </PageFrame>
  );
}

const columns: readonly Column<Rehearsal>[] = [
  {
    id: "change",
    header: t("rehearsals.list.change"),
    cell: ({ change }) => <span className="break">{changeWords(change)}</span>,
  },
  {
    id: "workspace",
    header: t("rehearsals.list.workspace"),
    cell: ({ workspace }) => workspace?.slug ?? t("rehearsals.list.all"),
  },
  {
    id: "period",
    header: t("rehearsals.period"),
    cell: ({ from, to }) => `${formatMoment(from)} – ${formatMoment(to)}`,
    secondary: true,
  },
  { id: "state", header: t("rehearsals.list.state"), cell: ({ state }) => <StatusBadge status={state} /> },
  {
    id: "started",
    header: t("rehearsals.list.started"),
    align: "right",
    cell: ({ created_at: at }) => <When at={at} />,
  },
];
