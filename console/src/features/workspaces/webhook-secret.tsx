import { Button, Group, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { Modal } from "../../components/modal.tsx";
import { Rich, t } from "../../language/areas/workspaces.ts";

/** Shows the secret with which receivers verify the webhooks of a workspace. Closing the dialog removes it from the page. */
export function WebhookSecret({ workspace }: { readonly workspace: string }) {
  // Not cached: each view of the secret is a separate request and an audit log entry.
  const reveal = useAct("workspaces.webhookSecret");
  const secret = reveal.data?.secret ?? null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconKey size={14} aria-hidden />}
        loading={reveal.isPending}
        onClick={() => reveal.mutate({ params: { workspace } })}
      >
        {t("workspaces.secret.show")}
      </Button>
      <Modal
        opened={secret !== null}
        onClose={reveal.reset}
        title={t("workspaces.secret.title", { workspace })}
        size="lg"
      >
        {secret !== null && (
          <Stack gap="md">
            <CodeBlock code={secret} label={t("workspaces.secret.name")} wrap />
            <Text size="sm">
              <Rich
                text="workspaces.secret.help"
                values={{
                  headers: (
                    <>
                      <code>webhook-id</code>, <code>webhook-timestamp</code>, <code>webhook-signature</code>
                    </>
                  ),
                }}
              />
            </Text>
            <Text size="sm" c="dimmed">
              {t("workspaces.secret.care")}
            </Text>
            <Group justify="flex-end">
              <CopyButton value={secret} label={t("workspaces.secret.copy")} wide />
              <Button onClick={reveal.reset} data-autofocus>
                {t("workspaces.done")}
              </Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </>
  );
}
