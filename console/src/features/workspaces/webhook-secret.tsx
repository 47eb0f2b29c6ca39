import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { t } from "../../language/areas/workspaces.ts";

/** Shows what receivers check the webhooks of a workspace with. It leaves the page with the dialog. */
export function WebhookSecret({ workspace }: { readonly workspace: string }) {
  // Not kept among the answers that pages share: a secret is asked for anew each time, and whoever asks is noted.
  const look = useAct("workspaces.webhookSecret");
  const secret = look.data?.secret ?? null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconKey size={14} aria-hidden />}
        loading={look.isPending}
        onClick={() => look.mutate({ params: { workspace } })}
      >
        {t("workspaces.showSigningSecret")}
      </Button>
      <Modal
        opened={secret !== null}
        onClose={look.reset}
        title={t("workspaces.signingSecretOf", { workspace })}
        size="lg"
      >
        {secret !== null && (
          <Stack gap="md">
            <CodeBlock code={secret} label={t("workspaces.signingSecret")} wrap />
            <Text size="sm">
              Give it to the receiver: any Standard Webhooks library checks the headers <code>webhook-id</code>,{" "}
              <code>webhook-timestamp</code> and <code>webhook-signature</code> of each message with it.
            </Text>
            <Text size="sm" c="dimmed">
              {t("workspaces.itSignsTheNoticesAnd")}
            </Text>
            <Group justify="flex-end">
              <CopyButton value={secret} label={t("workspaces.copySigningSecret")} wide />
              <Button onClick={look.reset} data-autofocus>
                {t("workspaces.done")}
              </Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </>
  );
}
