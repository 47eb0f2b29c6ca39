import { Group, Text } from "@mantine/core";
import type { GatewayProcess } from "@sluice/contract";
import { usePages } from "../../api/use-pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Count, Nothing, When } from "../../components/figures.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/settings.ts";

/** The processes of the installation, and their shared background tasks. */
export function ProcessList({ everyMs }: { readonly everyMs: number }) {
  const processes = usePages("system.processes", { everyMs });
  return (
    <Section flush title={t("settings.processes.title")} description={t("settings.processes.help")}>
      <DataTable
        label={t("settings.processes.title")}
        columns={columns}
        rows={processes}
        waitingRows={1}
        rowKey={(process) => process.id}
        dimmed={(process) => !process.alive}
        empty={<Nothing />}
      />
    </Section>
  );
}

const columns: readonly Column<GatewayProcess>[] = [
  {
    id: "process",
    header: t("settings.processes.process"),
    width: "24%",
    cell: (process) => <Which process={process} />,
    sortBy: (process) => process.host.toLowerCase(),
  },
  {
    id: "state",
    header: t("settings.processes.state"),
    cell: ({ alive }) =>
      alive ? (
        <StatusBadge status="running" tone="good" label={t("settings.processes.running")} />
      ) : (
        <StatusBadge status="down" label={t("settings.processes.silent")} hint={t("settings.processes.silentHelp")} />
      ),
  },
  { id: "version", header: t("settings.system.version"), cell: ({ version }) => version },
  {
    id: "started",
    header: t("settings.system.started"),
    secondary: true,
    cell: (process) => <When at={process.started_at} />,
    sortBy: (process) => process.started_at,
  },
  {
    id: "seen",
    header: t("settings.processes.seen"),
    cell: (process) => <When at={process.seen_at} />,
    sortBy: (process) => process.seen_at,
  },
  { id: "leads", header: t("settings.processes.leads"), cell: (process) => <Leads process={process} /> },
  {
    id: "lag",
    header: t("settings.processes.lag"),
    align: "right",
    cell: ({ journal_lag }) => (journal_lag === null ? <Nothing /> : <Count value={journal_lag} />),
    sortBy: (process) => process.journal_lag,
  },
];

function Which({ process }: { readonly process: GatewayProcess }) {
  return (
    <div>
      <Group gap="xs">
        <span className="break">{process.host}</span>
        {process.answers && (
          <StatusBadge
            status="this"
            tone="off"
            label={t("settings.processes.this")}
            hint={t("settings.processes.thisHelp")}
          />
        )}
      </Group>
      <Text fz="xs" c="dimmed" className="break">
        {process.id}
      </Text>
    </div>
  );
}

/** Lease names match the log and `sluice doctor`, in every language. */
function Leads({ process }: { readonly process: GatewayProcess }) {
  if (!process.leader) return <Nothing />;
  const work = process.leads.length === 0 ? t("settings.processes.everything") : process.leads.join(", ");
  return (
    <Group gap="xs">
      <StatusBadge status="leader" tone="busy" label={t("settings.processes.leader")} />
      <span className="break">{work}</span>
    </Group>
  );
}
