import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { When } from "../../components/figures.tsx";
import { wrongField } from "../../components/form-drawer.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { t } from "../../language/areas/settings.ts";

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
      <Modal opened={opened} onClose={onClose} title={t("settings.inviteAnAdministrator")}>
        <InviteForm
          onMade={(invitation) => {
            onClose();
            setMade(invitation);
          }}
        />
      </Modal>
      <SecretOnce
        secret={made?.link ?? null}
        title={`Invitation for ${made?.email ?? ""}`}
        what="link"
        onClose={() => setMade(null)}
      >
        <Text fz="sm">
          {made?.mailed === true ? "It was also sent by mail. " : "It was not mailed: hand it on yourself. "}
          It works once, for this address only, until <When at={made?.expires_at ?? null} exact />.
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
  const wrong = wrongField(invite.error, "email");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate({ body: { email: email.trim() } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text fz="sm">{t("settings.anAdministratorHasEvery")}</Text>
        <TextInput
          label={t("settings.eMailAddress")}
          type="email"
          required
          withAsterisk={false}
          data-autofocus
          maxLength={254}
          error={wrong}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        {invite.error !== null && wrong === null && <ProblemAlert problem={invite.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={invite.isPending}>
            {t("settings.makeInvitation")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
