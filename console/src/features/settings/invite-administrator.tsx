import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { When } from "../../components/figures.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { Modal } from "../../components/modal.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { Rich, t } from "../../language/areas/settings.ts";
import { useFaults } from "../catalog/use-faults.ts";

interface InviteAdministratorProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

type Made = AnswerOf<"invitations.inviteAdministrator">;

/** Asks for an address, then shows the link once. */
export function InviteAdministrator({ opened, onClose }: InviteAdministratorProps) {
  const [made, setMade] = useState<Made | null>(null);
  return (
    <>
      <Modal opened={opened} onClose={onClose} title={t("settings.invite.title")}>
        <InviteForm
          onMade={(invitation) => {
            onClose();
            setMade(invitation);
          }}
        />
      </Modal>
      <SecretOnce
        secret={made?.link ?? null}
        title={t("settings.invite.for", { email: made?.email ?? "" })}
        what="link"
        onClose={() => setMade(null)}
      >
        <Text fz="sm">
          <Rich
            text={made?.mailed === true ? "settings.invite.mailed" : "settings.invite.notMailed"}
            values={{ time: <When at={made?.expires_at ?? null} exact /> }}
          />
        </Text>
      </SecretOnce>
    </>
  );
}

function InviteForm({ onMade }: { readonly onMade: (made: Made) => void }) {
  const [email, setEmail] = useState("");
  const invite = useAct("invitations.inviteAdministrator", {
    inline: true,
    invalidates: ["invitations.administrators"],
    onDone: onMade,
  });
  const address = email.trim();
  const faults = useFaults(isAddress(address) ? {} : { email: t("settings.invite.emailWrong") }, invite.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (faults.check()) invite.mutate({ body: { email: address } });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text fz="sm">{t("settings.invite.help")}</Text>
        <TextInput
          label={t("settings.invite.email")}
          type="email"
          withAsterisk
          data-autofocus
          maxLength={254}
          error={faults.of("email")}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <FormProblem problem={invite.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={invite.isPending}>
            {t("settings.invite.verb")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Checks only the format of an email address. */
function isAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}
