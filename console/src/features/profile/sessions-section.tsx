import { Button, Group } from "@mantine/core";
import type { AuthList, AuthSession } from "../../api/auth-answers.ts";
import { useAuthAct, useAuthGet } from "../../api/use-auth.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Nothing, When } from "../../components/figures.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { browserName } from "./browser-name.ts";

/** Where one is signed in, and how to end it there. */
export function SessionsSection() {
  const sessions = useAuthGet<AuthList<AuthSession>>("/sessions");
  const endOthers = useAuthAct<object>("/sessions/end-others", { done: "Signed out everywhere else." });
  const others = (sessions.data?.data.length ?? 0) > 1;
  return (
    <Section
      flush
      title="Where you are signed in"
      description="End what you do not know, then change your password."
      actions={
        others && (
          <ConfirmButton
            title="Sign out everywhere else?"
            verb="Sign out everywhere else"
            onConfirm={() => endOthers.mutateAsync({})}
          >
            Every session but this one ends at once.
          </ConfirmButton>
        )
      }
    >
      <DataTable
        label="Sessions"
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
    header: "Browser",
    cell: (session) => (
      <Group gap="xs">
        <span title={session.user_agent ?? undefined}>{browserName(session.user_agent)}</span>
        {session.current && <StatusBadge status="this one" tone="good" />}
      </Group>
    ),
  },
  { id: "ip", header: "Address", cell: (session) => (session.ip === null ? <Nothing /> : <code>{session.ip}</code>) },
  { id: "made", header: "Signed in", cell: (session) => <When at={session.created_at} /> },
  {
    id: "seen",
    header: "Last seen",
    cell: (session) => <When at={session.seen_at} />,
    sortBy: (session) => session.seen_at,
  },
  { id: "ends", header: "Ends", cell: (session) => <When at={session.ends_at} /> },
  { id: "do", header: "Actions", quiet: true, align: "right", cell: (session) => <End session={session} /> },
];

function End({ session }: { readonly session: AuthSession }) {
  const end = useAuthAct<{ id: string }>("/sessions/end", { done: "Session ended." });
  if (session.current) return null;
  return (
    <Button
      variant="default"
      size="compact-xs"
      loading={end.isPending}
      aria-label={`End the session of ${browserName(session.user_agent)}`}
      onClick={() => end.mutate({ id: session.id })}
    >
      End
    </Button>
  );
}
