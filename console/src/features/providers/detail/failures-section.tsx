import { Anchor } from "@mantine/core";
import { type ConsoleProvider, everyWorkspace, type RequestRow } from "@sluice/contract";
import { IconMoodSmile } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Duration, When } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { useTimeRange } from "../../../components/use-time-range.ts";
import { t } from "../../../language/areas/providers.ts";
import { OutcomeCell } from "../../requests/outcome.tsx";

const shown = 20;

/** Failed attempts of all callers in the last hour. */
export function FailuresSection({ provider }: { readonly provider: ConsoleProvider }) {
  const { from } = useTimeRange("1h");
  const query = useCall("requests.list", {
    params: { workspace: everyWorkspace },
    query: { provider: provider.id, outcome: "failed", from, limit: shown },
    keepBefore: true,
  });
  return (
    <Section
      title={t("providers.failures.title")}
      description={t("providers.failures.help")}
      actions={
        <Anchor
          size="xs"
          renderRoot={(props) => (
            <Link
              to="/requests"
              search={{ provider: provider.id, outcome: "failed", range: "24h", workspace: everyWorkspace }}
              {...props}
            />
          )}
        >
          {t("providers.failures.all")}
        </Anchor>
      }
      flush
    >
      <DataTable
        label={t("providers.failures.title")}
        columns={columns}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={(row) => row.attempt_id}
        rowLink={(row) => ({ to: "/requests/$request", params: { request: row.request_id }, search: {} })}
        empty={
          <EmptyState icon={<IconMoodSmile />} title={t("providers.failures.none")}>
            {t("providers.failures.noneHelp")}
          </EmptyState>
        }
      />
    </Section>
  );
}

const columns: readonly Column<RequestRow>[] = [
  { id: "time", header: t("providers.failures.time"), cell: (row) => <When at={row.at} /> },
  { id: "model", header: t("providers.model"), cell: (row) => row.model || row.requested_model },
  { id: "workspace", header: t("providers.failures.workspace"), cell: (row) => row.workspace.slug || row.workspace.id },
  { id: "result", header: t("providers.failures.result"), cell: (row) => <OutcomeCell row={row} /> },
  {
    id: "duration",
    header: t("providers.failures.duration"),
    cell: (row) => <Duration ms={row.total_ms} />,
    align: "right",
  },
];
