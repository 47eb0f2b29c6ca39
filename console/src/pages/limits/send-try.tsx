import { Alert, Button, Group, Loader, Modal, Stack, Text } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useEffect } from "react";
import { useAct } from "../../api/use-act.ts";
import { formatMs } from "../../client/format.ts";
import { ProblemAlert } from "../../parts/problem-alert.tsx";

interface SendTryProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly params: { readonly workspace: string; readonly notice: string };
  readonly name: string;
}

/** Sends a notice now and says how it went. */
export function SendTry({ opened, onClose, params, name }: SendTryProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Try of ${name}`}>
      {opened && <Try params={params} onClose={onClose} />}
    </Modal>
  );
}

function Try({ params, onClose }: Pick<SendTryProps, "params" | "onClose">) {
  const send = useAct("notices.test", { inline: true });
  const { mutate, isIdle } = send;
  useEffect(() => {
    if (isIdle) mutate({ params });
  }, [isIdle, mutate, params]);
  return (
    <Stack gap="md" aria-live="polite">
      {send.error !== null && <ProblemAlert problem={send.error} />}
      {send.data === undefined && send.error === null && (
        <Group gap="xs">
          <Loader size="xs" aria-hidden />
          <Text size="sm">Sending…</Text>
        </Group>
      )}
      {send.data?.ok === true && (
        <Alert color="teal" variant="light" icon={<IconCheck size={16} />}>
          Sent and taken in {formatMs(send.data.ms)}. Look whether it arrived.
        </Alert>
      )}
      {send.data?.ok === false && (
        <Alert color="red" variant="light" icon={<IconX size={16} />} title="It could not be sent">
          {send.data.problem}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={() => mutate({ params })} loading={send.isPending}>
          Send again
        </Button>
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
