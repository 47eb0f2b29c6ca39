import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { t } from "../language/areas/components.ts";
import { useEscape } from "./use-escape.ts";

interface LeaveDialogProps {
  readonly opened: boolean;
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

export function LeaveDialog({ opened, onStay, onLeave }: LeaveDialogProps) {
  useEscape(opened, onStay);
  return (
    <Modal opened={opened} onClose={onStay} title={t("components.leave.title")} closeOnEscape={false} zIndex={300}>
      <Stack gap="md">
        <Text size="sm">{t("components.leave.help")}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onLeave}>
            {t("components.leave.leave")}
          </Button>
          <Button data-autofocus onClick={onStay}>
            {t("components.leave.stay")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
