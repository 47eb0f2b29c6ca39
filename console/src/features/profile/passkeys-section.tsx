import { Button, Group } from "@mantine/core";
import { startRegistration } from "@simplewebauthn/browser";
import { IconFingerprint } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import type { AuthList, AuthPasskey } from "../../api/auth-answers.ts";
import { useAsk } from "../../api/call-context.tsx";
import { useAuthAct, useAuthGet } from "../../api/use-auth.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { noticeDone } from "../../components/notice.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";
import { passkeyProblem, passkeysWork } from "../../session/sign-in-calls.ts";
import { useDoing } from "../../session/use-doing.ts";
import { PasskeyName } from "./passkey-name.tsx";

type Question = Parameters<typeof startRegistration>[0]["optionsJSON"];

/** Keys that a device or a password manager holds: nothing to remember, nothing to steal from us, nothing to type into the wrong page. */
export function PasskeysSection() {
  const passkeys = useAuthGet<AuthList<AuthPasskey>>("/passkey/list-user-passkeys");
  const { add, doing, problem } = useAddPasskey();
  const works = passkeysWork();
  return (
    <Section
      flush
      title={t("profile.passkeys")}
      description={t("profile.signInWithAFingerprint")}
      actions={
        <Button
          variant="default"
          leftSection={<IconFingerprint size={15} stroke={1.6} />}
          disabled={!works}
          title={works ? undefined : t("profile.passkeysNeedABrowserThat")}
          loading={doing}
          onClick={add}
        >
          {t("profile.addAPasskey")}
        </Button>
      }
    >
      {problem !== null && <ProblemAlert problem={problem} />}
      <DataTable
        label={t("profile.passkeys")}
        columns={columns}
        rows={rowsIn(passkeys, (answer) => answer.data)}
        rowKey={(passkey) => passkey.id}
        empty={
          <EmptyState icon={<IconFingerprint />} title={t("profile.noPasskeyYet")}>
            {t("profile.addOneOnThisDevice")}
          </EmptyState>
        }
      />
    </Section>
  );
}

function useAddPasskey() {
  const ask = useAsk();
  const queries = useQueryClient();
  const { run, doing, problem } = useDoing();
  const add = () =>
    void run(async () => {
      const path = "/api/auth/passkey/generate-register-options";
      const optionsJSON = (await ask(path, { method: "GET", body: null, signal: null })) as Question;
      const response = await startRegistration({ optionsJSON }).catch((thrown: unknown) => {
        throw passkeyProblem(thrown);
      });
      const body = JSON.stringify({ response, name: deviceName(navigator.userAgent) });
      await ask("/api/auth/passkey/verify-registration", { method: "POST", body, signal: null });
      noticeDone(t("profile.passkeyAdded"));
      await queries.invalidateQueries({ queryKey: ["auth"] });
    });
  return { add, doing, problem };
}

/** A first name for a new passkey; it can be changed. */
function deviceName(userAgent: string): string {
  const systems = [
    ["iPhone", /iPhone/],
    ["iPad", /iPad/],
    [t("profile.android"), /Android/],
    [t("profile.mac"), /Macintosh/],
    [t("profile.windows"), /Windows/],
    ["ChromeOS", /CrOS/],
    [t("profile.linux"), /Linux/],
  ] as const;
  return systems.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? t("profile.passkey");
}

const columns: readonly Column<AuthPasskey>[] = [
  { id: "name", header: t("profile.name"), cell: (passkey) => <PasskeyName passkey={passkey} /> },
  {
    id: "kept",
    header: t("profile.kept"),
    cell: (passkey) => (passkey.synced ? t("profile.inAPasswordManagerOr") : t("profile.onOneDevice")),
  },
  {
    id: "made",
    header: t("profile.added"),
    cell: (passkey) => <When at={passkey.created_at} missing={t("profile.unknown2")} />,
  },
  {
    id: "do",
    header: t("profile.actions"),
    quiet: true,
    align: "right",
    cell: (passkey) => <Remove passkey={passkey} />,
  },
];

function Remove({ passkey }: { readonly passkey: AuthPasskey }) {
  const remove = useAuthAct<{ id: string }>("/passkey/delete-passkey", { done: t("profile.passkeyRemoved") });
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={t("profile.removeThisPasskey")}
        verb={t("profile.remove")}
        onConfirm={() => remove.mutateAsync({ id: passkey.id })}
      >
        {passkey.name ?? t("profile.it")} no longer signs you in. The device or password manager keeps a key that opens
        nothing; delete it there too.
      </ConfirmButton>
    </Group>
  );
}
