import { Text } from "@mantine/core";
import type { RequestSession, ToolUse } from "@sluice/contract";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { Rich, t } from "../../../language/areas/sessions.ts";
import { useSession } from "../../../session/session-context.tsx";
import { KeyLink } from "../../requests/key-link.tsx";

interface ToolsSectionProps {
  readonly session: RequestSession;
}

/** Tools that the agent called, read from captured bodies. Only admins of the workspace can see them. */
export function ToolsSection({ session }: ToolsSectionProps) {
  const { may } = useSession();
  return may("admin", session.workspace.id) ? <CapturedTools session={session} /> : null;
}

function CapturedTools({ session: { session, key, workspace } }: ToolsSectionProps) {
  const params = { workspace: workspace.id, key: key.id };
  const tools = useCall("sessions.tools", { params, query: { session } });
  const captured = tools.data?.captured_requests ?? 0;
  if (tools.data !== undefined && captured === 0) {
    return (
      <Section title={t("sessions.tools.title")}>
        <Text fz="sm" c="dimmed">
          <Rich
            text="sessions.tools.off"
            tags={{
              link: (inside) => (
                <KeyLink id={key.id} workspace={workspace.slug} underlined>
                  {inside}
                </KeyLink>
              ),
            }}
          />
        </Text>
      </Section>
    );
  }
  return (
    <Section
      title={t("sessions.tools.title")}
      description={tools.data !== undefined && t("sessions.tools.help", { count: captured })}
      flush
    >
      <DataTable
        label={t("sessions.tools.title")}
        columns={columns}
        rows={rowsIn(tools, ({ data }) => data)}
        rowKey={({ name }) => name}
        waitingRows={2}
        empty={
          <Text fz="sm" c="dimmed" p="md">
            {t("sessions.tools.none")}
          </Text>
        }
      />
    </Section>
  );
}

const columns: readonly Column<ToolUse>[] = [
  { id: "name", header: t("sessions.tools.name"), cell: ({ name }) => <span className="break">{name}</span> },
  { id: "calls", header: t("sessions.tools.calls"), cell: ({ calls }) => <Count value={calls} />, align: "right" },
  {
    id: "results",
    header: t("sessions.tools.results"),
    cell: ({ results }) => <Count value={results} />,
    align: "right",
  },
  { id: "errors", header: t("sessions.tools.failed"), cell: ({ errors }) => <Count value={errors} />, align: "right" },
];
