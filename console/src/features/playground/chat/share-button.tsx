import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { PlaygroundSession } from "@sluice/contract";
import { IconShare2 } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { CopyButton } from "../../../components/copy-button.tsx";
import { When } from "../../../components/figures.tsx";
import { Modal } from "../../../components/modal.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/playground.ts";

interface ShareButtonProps {
  readonly workspace: string;
  readonly make: () => PlaygroundSession;
}

const lifetimes = [1, 7, 30, 90] as const;

/** Shares the session with the workspace by link, and lists the links. */
export function ShareButton({ workspace, make }: ShareButtonProps) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="subtle" size="compact-xs" leftSection={<IconShare2 size={14} aria-hidden />} onClick={open}>
        {t("playground.share.show")}
      </Button>
      <Modal opened={opened} onClose={close} title={t("playground.share.title")}>
        <ShareForm workspace={workspace} make={make} />
      </Modal>
    </>
  );
}

function ShareForm({ workspace, make }: ShareButtonProps) {
  const [days, setDays] = useState(30);
  const create = useAct("playgroundShares.create", { inline: true, invalidates: ["playgroundShares.list"] });
  const link = create.data === undefined ? null : linkOf(workspace, create.data.id);
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {t("playground.share.help")}
      </Text>
      <Group align="flex-end">
        <Select
          label={t("playground.share.expires")}
          data={lifetimes.map((value) => ({
            value: String(value),
            label: t("playground.share.days", { count: value }),
          }))}
          value={String(days)}
          onChange={(value) => setDays(Number(value ?? days))}
          allowDeselect={false}
        />
        <Button
          loading={create.isPending}
          onClick={() => create.mutate({ params: { workspace }, body: { session: make(), days } })}
        >
          {t("playground.share.create")}
        </Button>
      </Group>
      {create.error !== null && <ProblemAlert problem={create.error} />}
      {link !== null && (
        <Group wrap="nowrap" align="flex-end" aria-live="polite">
          <TextInput label={t("playground.share.link")} value={link} readOnly flex={1} />
          <CopyButton value={link} label={t("playground.share.copy")} wide />
        </Group>
      )}
      <Links workspace={workspace} />
    </Stack>
  );
}

function Links({ workspace }: { readonly workspace: string }) {
  const shares = useCall("playgroundShares.list", { params: { workspace } });
  const remove = useAct("playgroundShares.remove", {
    invalidates: ["playgroundShares.list"],
    done: t("playground.share.removed"),
  });
  const list = shares.data?.data ?? [];
  if (list.length === 0) return null;
  return (
    <Stack gap="xs" component="ul" className="plain-list" aria-label={t("playground.share.links")}>
      {list.map(({ id, models, owner, expires_at: expiresAt }) => (
        <Group key={id} component="li" justify="space-between" wrap="nowrap">
          <Text size="sm" className="break">
            {models.join(", ")} · {owner.name || owner.email} · {t("playground.share.until")} <When at={expiresAt} />
          </Text>
          <Group gap={4} wrap="nowrap">
            <CopyButton
              value={linkOf(workspace, id)}
              label={t("playground.share.copyOf", { model: models.join(", ") })}
            />
            <Button
              variant="default"
              size="compact-xs"
              onClick={() => remove.mutate({ params: { workspace, share: id } })}
            >
              {t("playground.share.remove")}
            </Button>
          </Group>
        </Group>
      ))}
    </Stack>
  );
}

function linkOf(workspace: string, share: string): string {
  return `${location.origin}/console/playground?${new URLSearchParams({ workspace, share })}`;
}
