import { Alert, Button, Group, Loader, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Notice } from "@sluice/contract";
import { IconCheck, IconX } from "@tabler/icons-react";
import { type Act, useAct } from "../../api/use-act.ts";
import { formatMs } from "../../client/format.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";

interface SendTryProps {
  readonly workspace: string;
  readonly notice: Notice;
}

/** Sends a notice now and says how it went. */
export function SendTry({ workspace, notice }: SendTryProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const send = useAct("notices.test", { inline: true });
  const again = () => send.mutate({ params: { workspace, notice: notice.id } });
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={`Send a try of ${notice.name}`}
        onClick={() => {
          open();
          again();
        }}
      >
        Send a try
      </Button>
      <Modal opened={opened} onClose={close} title={`A try of ${notice.name}`}>
        <Stack gap="md">
          <div aria-live="polite">
            <Outcome send={send} />
          </div>
          <Group justify="flex-end">
            <Button variant="default" onClick={again} loading={send.isPending}>
              Send again
            </Button>
            <Button onClick={close} data-autofocus>
              Close
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
        <Text size="sm">Sending…</Text>
      </Group>
    );
  }
  if (send.data.ok) {
    return (
      <Alert color="teal" variant="light" icon={<IconCheck size={16} />}>
        Sent and taken in {formatMs(send.data.ms)}. Look whether it arrived.
      </Alert>
    );
  }
  return (
    <Alert color="red" variant="light" icon={<IconX size={16} />} title="It could not be sent">
      {send.data.problem}
    </Alert>
  );
}
