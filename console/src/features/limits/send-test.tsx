import { Alert, Button, Group, Loader, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Notice } from "@sluice/contract";
import { IconCheck, IconX } from "@tabler/icons-react";
import { type Act, useAct } from "../../api/use-act.ts";
import { formatMs } from "../../client/format.ts";
import { Modal } from "../../components/modal.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/limits.ts";
import { alertProblemWords } from "./alert-problem-words.ts";

interface SendTestProps {
  readonly workspace: string;
  readonly alert: Notice;
}

/** Sends a test alert and shows the result. */
export function SendTest({ workspace, alert }: SendTestProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const send = useAct("notices.test", { inline: true });
  const again = () => send.mutate({ params: { workspace, notice: alert.id } });
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("limits.test.of", { name: alert.name })}
        onClick={() => {
          open();
          again();
        }}
      >
        {t("limits.test.send")}
      </Button>
      <Modal opened={opened} onClose={close} title={t("limits.test.title", { name: alert.name })}>
        <Stack gap="md">
          <div aria-live="polite">
            <Outcome send={send} />
          </div>
          <Group justify="flex-end">
            <Button variant="default" onClick={again} loading={send.isPending}>
              {t("limits.test.again")}
            </Button>
            <Button onClick={close} data-autofocus>
              {t("limits.test.close")}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function Outcome({ send }: { readonly send: Act<"notices.test"> }) {
  if (send.error !== null) return <ProblemAlert problem={send.error} />;
  if (send.data === undefined) {
    return (
      <Group gap="xs">
        <Loader size="xs" aria-hidden />
        <Text size="sm">{t("limits.test.sending")}</Text>
      </Group>
    );
  }
  if (send.data.ok) {
    return (
      <Alert color="teal" variant="light" icon={<IconCheck size={16} />}>
        {t("limits.test.sent", { time: formatMs(send.data.ms) })}
      </Alert>
    );
  }
  return (
    <Alert color="red" variant="light" icon={<IconX size={16} />} title={t("limits.test.failed")}>
      {alertProblemWords(send.data.fault, send.data.problem ?? "")}
    </Alert>
  );
}
