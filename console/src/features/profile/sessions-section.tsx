import { Button, Group } from "@mantine/core";
import type { AuthList, AuthSession } from "../../api/auth-answers.ts";
import { useAuthAct, useAuthGet } from "../../api/use-auth.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Nothing, When } from "../../components/figures.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/profile.ts";
import { browserName } from "./browser-name.ts";

/** The user's sessions, with buttons to end them. */
export function SessionsSection() {
  const sessions = useAuthGet<AuthList<AuthSession>>("/sessions");
  const endOthers = useAuthAct<object>("/sessions/end-others", { done: t("profile.sessions.endedOthers") });
  const others = (sessions.data?.data.length ?? 0) > 1;
  return (
    <Section
      flush
      title={t("profile.sessions.title")}
      description={t("profile.sessions.help")}
      actions={
        others && (
          <ConfirmButton
            title={t("profile.sessions.endOthersTitle")}
            verb={t("profile.sessions.endOthers")}
            onConfirm={() => endOthers.mutateAsync({})}
          >
            {t("profile.sessions.endOthersHelp")}
          </ConfirmButton>
        )
      }
    >
      <DataTable
        label={t("profile.sessions.label")}
        columns={columns}
        rows={rowsIn(sessions, (answer) => answer.data)}
        rowKey={(session) => session.id}
        sortedBy="-seen"
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<AuthSession>[] = [
  {
    id: "browser",
    header: t("profile.sessions.browser"),
    cell: (session) => (
      <Group gap="xs">
        <span title={session.user_agent ?? undefined}>{browserName(session.user_agent)}</span>
        {session.current && <StatusBadge status="this_session" tone="good" />}
      </Group>
    ),
  },
  {
    id: "ip",
    header: t("profile.sessions.address"),
    cell: (session) => (session.ip === null ? <Nothing /> : <code>{session.ip}</code>),
  },
  { id: "made", header: t("profile.sessions.signedIn"), cell: (session) => <When at={session.created_at} /> },
  {
    id: "seen",
    header: t("profile.sessions.lastSeen"),
    cell: (session) => <When at={session.seen_at} />,
    sortBy: (session) => session.seen_at,
  },
  { id: "ends", header: t("profile.sessions.ends"), cell: (session) => <When at={session.ends_at} /> },
  { id: "do", header: t("profile.actions"), quiet: true, align: "right", cell: (session) => <End session={session} /> },
];

function End({ session }: { readonly session: AuthSession }) {
  const end = useAuthAct<{ id: string }>("/sessions/end", { done: t("profile.sessions.ended") });
  if (session.current) return null;
  return (
    <Button
      variant="default"
      size="compact-xs"
      loading={end.isPending}
      aria-label={t("profile.sessions.endLabel", { browser: browserName(session.user_agent) })}
      onClick={() => end.mutate({ id: session.id })}
    >
      {t("profile.sessions.end")}
    </Button>
  );
}
