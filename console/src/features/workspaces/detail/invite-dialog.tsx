import { Alert, Button, Group, Radio, Stack, Text, TextInput } from "@mantine/core";
import { type AnswerOf, type ConsoleWorkspace, type Need, type WorkspaceRole, workspaceRoles } from "@sluice/contract";
import { IconMail } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { CloseButton } from "../../../components/close-button.tsx";
import { CodeBlock } from "../../../components/code-block.tsx";
import { CopyButton } from "../../../components/copy-button.tsx";
import { When } from "../../../components/figures.tsx";
import { wrongField } from "../../../components/form-drawer.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { Modal } from "../../../components/modal.tsx";
import { Rich, t } from "../../../language/areas/workspaces.ts";
import { rolesUpTo, roleWords } from "../role-words.ts";

interface InviteDialogProps {
  readonly workspace: ConsoleWorkspace;
  readonly held: Need;
  readonly onClose: () => void;
}

/** Asks for an email address and role, then shows the link once. */
export function InviteDialog({ workspace, held, onClose }: InviteDialogProps) {
  const [sent, setSent] = useState<AnswerOf<"invitations.create"> | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      title={
        sent === null
          ? t("workspaces.invite.title", { name: workspace.name })
          : t("workspaces.invite.sent", { email: sent.email })
      }
      closeOnClickOutside={false}
    >
      {sent === null ? (
        <InviteForm workspace={workspace} held={held} onSent={setSent} />
      ) : (
        <Invited sent={sent} onClose={onClose} />
      )}
    </Modal>
  );
}

interface InviteFormProps extends Omit<InviteDialogProps, "onClose"> {
  readonly onSent: (sent: AnswerOf<"invitations.create">) => void;
}

function InviteForm({ workspace, held, onSent }: InviteFormProps) {
  const [email, setEmail] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const [role, setRole] = useState<WorkspaceRole>("member");
  const invite = useAct("invitations.create", { inline: true, invalidates: ["invitations.list"], onDone: onSent });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const fault = emailFault(email);
    setWrong(fault);
    if (fault === null) invite.mutate({ params: { workspace: workspace.slug }, body: { email: email.trim(), role } });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          type="email"
          label={t("workspaces.email")}
          placeholder={t("workspaces.invite.emailPlaceholder")}
          required
          data-autofocus
          autoComplete="off"
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={wrong ?? wrongField(invite.error, "email")}
        />
        <Radio.Group
          label={t("workspaces.role.title")}
          value={role}
          onChange={(value) => setRole(workspaceRoles.find((each) => each === value) ?? "member")}
        >
          <Stack gap="xs" mt={6}>
            {rolesUpTo(held).map((each) => (
              <Radio
                key={each}
                size="sm"
                value={each}
                label={roleWords[each].label}
                description={roleWords[each].may}
              />
            ))}
          </Stack>
        </Radio.Group>
        <FormProblem problem={invite.error} />
        <Group justify="flex-end">
          <CloseButton />
          <Button type="submit" loading={invite.isPending}>
            {t("workspaces.invite.verb")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A rough check of an email address; the gateway decides. */
function emailFault(text: string): string | null {
  if (text.trim() === "") return t("workspaces.invite.emailMissing");
  return /^[^\s@]+@[^\s@]+$/.test(text.trim()) ? null : t("workspaces.invite.emailWrong");
}

interface InvitedProps {
  readonly sent: AnswerOf<"invitations.create">;
  readonly onClose: () => void;
}

function Invited({ sent, onClose }: InvitedProps) {
  return (
    <Stack gap="md">
      {sent.mailed ? (
        <Alert variant="light" color="cyan" icon={<IconMail size={16} />}>
          {t("workspaces.invite.mailed", { email: sent.email })}
        </Alert>
      ) : (
        <Text size="sm">{t("workspaces.invite.notMailed", { email: sent.email })}</Text>
      )}
      <CodeBlock code={sent.link} label={t("workspaces.invite.link")} wrap />
      <Text size="xs" c="dimmed">
        <Rich text="workspaces.invite.expires" tags={{ when: () => <When at={sent.expires_at} /> }} />
      </Text>
      <Group justify="flex-end">
        <CopyButton value={sent.link} label={t("workspaces.invite.copyLink")} wide />
        <Button onClick={onClose} data-autofocus>
          {t("workspaces.done")}
        </Button>
      </Group>
    </Stack>
  );
}
