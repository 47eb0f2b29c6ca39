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

/** Passkeys, which a device or a password manager stores. They cannot be phished or stolen from the server. */
export function PasskeysSection() {
  const passkeys = useAuthGet<AuthList<AuthPasskey>>("/passkey/list-user-passkeys");
  const { add, doing, problem } = useAddPasskey();
  const works = passkeysWork();
  return (
    <Section
      flush
      title={t("profile.passkeys.title")}
      description={t("profile.passkeys.help")}
      actions={
        <Button
          variant="default"
          leftSection={<IconFingerprint size={15} stroke={1.6} />}
          disabled={!works}
          title={works ? undefined : t("profile.passkeys.unsupported")}
          loading={doing}
          onClick={add}
        >
          {t("profile.passkeys.add")}
        </Button>
      }
    >
      {problem !== null && <ProblemAlert problem={problem} />}
      <DataTable
        label={t("profile.passkeys.title")}
        columns={columns}
        rows={rowsIn(passkeys, (answer) => answer.data)}
        rowKey={(passkey) => passkey.id}
        empty={
          <EmptyState icon={<IconFingerprint />} title={t("profile.passkeys.noneTitle")}>
            {t("profile.passkeys.noneHelp")}
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
      noticeDone(t("profile.passkeys.added"));
      await queries.invalidateQueries({ queryKey: ["auth"] });
    });
  return { add, doing, problem };
}

/** The initial name of a new passkey. */
function deviceName(userAgent: string): string {
  const systems = [
    ["iPhone", /iPhone/],
    ["iPad", /iPad/],
    ["Android", /Android/],
    ["Mac", /Macintosh/],
    ["Windows", /Windows/],
    ["ChromeOS", /CrOS/],
    ["Linux", /Linux/],
  ] as const;
  return systems.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? t("profile.passkeys.one");
}

const columns: readonly Column<AuthPasskey>[] = [
  { id: "name", header: t("profile.name"), cell: (passkey) => <PasskeyName passkey={passkey} /> },
  {
    id: "kept",
    header: t("profile.passkeys.storage"),
    cell: (passkey) => (passkey.synced ? t("profile.passkeys.synced") : t("profile.passkeys.device")),
  },
  {
    id: "made",
    header: t("profile.passkeys.addedAt"),
    cell: (passkey) => <When at={passkey.created_at} missing={t("profile.passkeys.unknown")} />,
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
  const remove = useAuthAct<{ id: string }>("/passkey/delete-passkey", { done: t("profile.passkeys.removed") });
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title={t("profile.passkeys.removeTitle")}
        verb={t("profile.passkeys.remove")}
        onConfirm={() => remove.mutateAsync({ id: passkey.id })}
      >
        {t("profile.passkeys.removeHelp", { name: passkey.name ?? t("profile.passkeys.one") })}
      </ConfirmButton>
    </Group>
  );
}
