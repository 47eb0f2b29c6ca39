import { Alert, Button, Group } from "@mantine/core";
import { IconPlugConnected } from "@tabler/icons-react";
import type { AuthConnection } from "../../api/auth-answers.ts";
import { useAsk } from "../../api/call-context.tsx";
import { useAuthAct } from "../../api/use-auth.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";
import { useUrlText } from "../../routes/search.ts";
import { useSessionAnswer } from "../../session/session-context.tsx";
import { goElsewhere } from "../../session/sign-in-calls.ts";
import { useDoing } from "../../session/use-doing.ts";
import { elsewhereWords } from "../sign-in/came-back.tsx";

/** The user's single sign-on accounts. Connecting needs a signed-in user; a matching email address is not enough. */
export function ConnectionsSection({ connections }: { readonly connections: readonly AuthConnection[] }) {
  const { methods } = useSessionAnswer();
  const { connect, doing, problem } = useConnect();
  if (methods.oidc.length === 0 && connections.length === 0) return null;
  return (
    <Section
      flush
      title={t("profile.connections.title")}
      description={t("profile.connections.help")}
      actions={methods.oidc.map(({ id, name }) => (
        <Button key={id} variant="default" loading={doing} onClick={() => connect(id)}>
          {t("profile.connections.connect", { name })}
        </Button>
      ))}
    >
      <CameBack />
      {problem !== null && <ProblemAlert problem={problem} />}
      <DataTable
        label={t("profile.connections.title")}
        columns={columns}
        rows={rowsOf(connections)}
        rowKey={(connection) => connection.id}
        empty={
          <EmptyState icon={<IconPlugConnected />} title={t("profile.connections.noneTitle")}>
            {t("profile.connections.noneHelp")}
          </EmptyState>
        }
      />
    </Section>
  );
}

function useConnect() {
  const ask = useAsk();
  const { run, doing, problem } = useDoing();
  const connect = (provider: string) =>
    void run(async () => {
      const body = JSON.stringify({ provider });
      const { url } = (await ask("/api/auth/oidc/connect", { method: "POST", body, signal: null })) as { url: string };
      goElsewhere(url);
    });
  return { connect, doing, problem };
}

/** The result of connecting an account, which the gateway puts into the URL as `?connected=` or `?error=`. */
function CameBack() {
  const [connected, forgetConnected] = useUrlText("connected");
  const [error, forgetError] = useUrlText("error");
  const { methods } = useSessionAnswer();
  if (connected === "" && error === "") return null;
  const name = methods.oidc.find(({ id }) => id === connected)?.name ?? t("profile.connections.it");
  return error === "" ? (
    <Alert
      variant="light"
      color="teal"
      role="status"
      withCloseButton
      closeButtonLabel={t("profile.hide")}
      onClose={() => forgetConnected("")}
      m="md"
    >
      {t("profile.connections.connected", { name })}
    </Alert>
  ) : (
    <Alert
      variant="light"
      color="red"
      role="alert"
      title={t("profile.connections.failed")}
      withCloseButton
      closeButtonLabel={t("profile.hide")}
      onClose={() => forgetError("")}
      m="md"
    >
      {elsewhereWords(error)}
    </Alert>
  );
}

const columns: readonly Column<AuthConnection>[] = [
  {
    id: "name",
    header: t("profile.connections.account"),
    cell: (connection) => (
      <span className="key-name">
        {connection.name ?? connection.provider}
        <small>{connection.name === null ? t("profile.connections.unavailable") : connection.issuer}</small>
      </span>
    ),
  },
  { id: "made", header: t("profile.connections.since"), cell: (connection) => <When at={connection.connected_at} /> },
  {
    id: "do",
    header: t("profile.actions"),
    quiet: true,
    align: "right",
    cell: (connection) => <Disconnect connection={connection} />,
  },
];

function Disconnect({ connection }: { readonly connection: AuthConnection }) {
  const disconnect = useAuthAct<{ id: string }>("/oidc/disconnect", { done: t("profile.connections.disconnected") });
  const name = connection.name ?? connection.provider;
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={t("profile.connections.disconnectTitle", { name })}
        verb={t("profile.connections.disconnect")}
        onConfirm={() => disconnect.mutateAsync({ id: connection.id })}
      >
        {t("profile.connections.disconnectHelp")}
      </ConfirmButton>
    </Group>
  );
}
