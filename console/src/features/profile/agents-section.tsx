import { Button, Group, Text } from "@mantine/core";
import type { AgentSignInRow } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { When } from "../../components/figures.tsx";
import { rowsIn, rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";

/** Coding agents that are signed in as the user, with a button to sign them out. */
export function AgentsSection() {
  const agents = useCall("agents.list", {});
  return (
    <Section
      flush
      title={t("profile.agents.title")}
      description={t("profile.agents.help")}
      actions={
        <Button component={Link} to="/device" variant="default" size="xs">
          {t("profile.agents.enterCode")}
        </Button>
      }
    >
      <DataTable
        label={t("profile.agents.title")}
        columns={columns}
        rows={rowsIn(agents, (answer) => answer.data)}
        rowKey={(agent) => agent.id}
        sortedBy="-refreshed"
        empty={null}
      />
    </Section>
  );
}

interface AgentTableProps {
  readonly agents: readonly AgentSignInRow[];
  /** Whether the viewer may end these sign-ins. */
  readonly mayEnd: boolean;
  readonly empty: string;
}

/** The agent sign-ins of any person. */
export function AgentTable({ agents, mayEnd, empty }: AgentTableProps) {
  return (
    <DataTable
      label={t("profile.agents.title")}
      columns={mayEnd ? columns : columns.filter(({ id }) => id !== "do")}
      rows={rowsOf(agents)}
      rowKey={(agent) => agent.id}
      sortedBy="-refreshed"
      empty={
        <Text ta="center" c="dimmed" fz="sm" py="md">
          {empty}
        </Text>
      }
    />
  );
}

const columns: readonly Column<AgentSignInRow>[] = [
  { id: "client", header: t("profile.agents.program"), cell: (agent) => agent.client },
  {
    id: "workspace",
    header: t("profile.agents.workspace"),
    cell: (agent) => (
      <Group gap="xs">
        {agent.workspace.slug} / {agent.group}
      </Group>
    ),
  },
  { id: "ip", header: t("profile.sessions.address"), cell: (agent) => <code>{agent.ip}</code> },
  { id: "made", header: t("profile.sessions.signedIn"), cell: (agent) => <When at={agent.created_at} /> },
  {
    id: "refreshed",
    header: t("profile.agents.refreshed"),
    cell: (agent) => <When at={agent.refreshed_at} />,
    sortBy: (agent) => agent.refreshed_at,
  },
  { id: "ends", header: t("profile.sessions.ends"), cell: (agent) => <When at={agent.expires_at} /> },
  { id: "do", header: t("profile.actions"), quiet: true, align: "right", cell: (agent) => <End agent={agent} /> },
];

function End({ agent }: { readonly agent: AgentSignInRow }) {
  const end = useAct("agents.end", { invalidates: ["agents.list", "people.show"], done: t("profile.agents.ended") });
  return (
    <Button
      variant="default"
      size="compact-xs"
      loading={end.isPending}
      aria-label={t("profile.agents.endLabel", { client: agent.client })}
      onClick={() => end.mutate({ params: { agent: agent.id } })}
    >
      {t("profile.sessions.end")}
    </Button>
  );
}
