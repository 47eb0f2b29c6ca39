import { Alert, Button, Group, Loader, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type AlertChannel, everyWorkspace } from "@sluice/contract";
import { IconCheck, IconX } from "@tabler/icons-react";
import { type Act, useAct } from "../../api/use-act.ts";
import { formatMs } from "../../client/format.ts";
import { Modal } from "../../components/modal.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/alerts.ts";
import { alertProblemWords } from "./alert-problem-words.ts";

/** Sends a test message to a channel and shows the result. */
export function SendTest({ channel }: { readonly channel: AlertChannel }) {
  const [opened, { open, close }] = useDisclosure(false);
  const send = useAct("alertChannels.test", { inline: true });
  const again = () =>
    send.mutate({ params: { workspace: channel.workspace?.slug ?? everyWorkspace, channel: channel.id } });
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("alerts.test.of", { name: channel.name })}
        onClick={() => {
          open();
          again();
        }}
      >
        {t("alerts.test.send")}
      </Button>
      <Modal opened={opened} onClose={close} title={t("alerts.test.title", { name: channel.name })}>
        <Stack gap="md">
          <div aria-live="polite">
            <Outcome send={send} />
          </div>
          <Group justify="flex-end">
            <Button variant="default" onClick={again} loading={send.isPending}>
              {t("alerts.test.again")}
            </Button>
            <Button onClick={close} data-autofocus>
              {t("alerts.test.close")}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function Outcome({ send }: { readonly send: Act<"alertChannels.test"> }) {
  if (send.error !== null) return <ProblemAlert problem={send.error} />;
  if (send.data === undefined) {
    return (
      <Group gap="xs">
        <Loader size="xs" aria-hidden />
        <Text size="sm">{t("alerts.test.sending")}</Text>
      </Group>
    );
  }
  if (send.data.ok) {
    return (
      <Alert color="teal" variant="light" icon={<IconCheck size={16} />}>
        {t("alerts.test.sent", { time: formatMs(send.data.ms) })}
      </Alert>
    );
  }
  return (
    <Alert color="red" variant="light" icon={<IconX size={16} />} title={t("alerts.test.failed")}>
      {alertProblemWords(send.data.fault, send.data.problem ?? "")}
    </Alert>
  );
}
