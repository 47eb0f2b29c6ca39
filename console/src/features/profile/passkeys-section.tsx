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
      title="Passkeys"
      description="Sign in with a fingerprint, a face, a PIN or a security key. No password, no code, and no false page gets it."
      actions={
        <Button
          variant="default"
          leftSection={<IconFingerprint size={15} stroke={1.6} />}
          disabled={!works}
          title={
            works
              ? undefined
              : "Passkeys need a browser that has them, and a console opened by its name: not by an IP address."
          }
          loading={doing}
          onClick={add}
        >
          Add a passkey
        </Button>
      }
    >
      {problem !== null && <ProblemAlert problem={problem} />}
      <DataTable
        label="Passkeys"
        columns={columns}
        rows={rowsIn(passkeys, (answer) => answer.data)}
        rowKey={(passkey) => passkey.id}
        empty={
          <EmptyState icon={<IconFingerprint />} title="No passkey yet">
            Add one on this device; a password manager carries it to your others.
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
      noticeDone("Passkey added.");
      await queries.invalidateQueries({ queryKey: ["auth"] });
    });
  return { add, doing, problem };
}

/** A first name for a new passkey; it can be changed. */
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
  return systems.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? "Passkey";
}

const columns: readonly Column<AuthPasskey>[] = [
  { id: "name", header: "Name", cell: (passkey) => <PasskeyName passkey={passkey} /> },
  {
    id: "kept",
    header: "Kept",
    cell: (passkey) => (passkey.synced ? "in a password manager or cloud" : "on one device"),
  },
  { id: "made", header: "Added", cell: (passkey) => <When at={passkey.created_at} missing="unknown" /> },
  { id: "do", header: "Actions", quiet: true, align: "right", cell: (passkey) => <Remove passkey={passkey} /> },
];

function Remove({ passkey }: { readonly passkey: AuthPasskey }) {
  const remove = useAuthAct<{ id: string }>("/passkey/delete-passkey", { done: "Passkey removed." });
  return (
    <Group justify="flex-end">
      <ConfirmButton
        size="compact-xs"
        title="Remove this passkey?"
        verb="Remove"
        onConfirm={() => remove.mutateAsync({ id: passkey.id })}
      >
        {passkey.name ?? "It"} no longer signs you in. The device or password manager keeps a key that opens nothing;
        delete it there too.
      </ConfirmButton>
    </Group>
  );
}
