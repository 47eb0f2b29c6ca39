import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { t } from "../../language/areas/catalog.ts";

/** Asks before the page is left while something on it is not saved. Another tab of the same page is no leaving. */
export function LeaveGuard({ dirty }: { readonly dirty: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    enableBeforeUnload: dirty,
    withResolver: true,
  });
  return (
    <Modal opened={status === "blocked"} onClose={() => reset?.()} title={t("catalog.leaveWithoutSaving")}>
      <Stack gap="md">
        <Text size="sm">{t("catalog.whatYouChangedOnThis")}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => proceed?.()}>
            {t("catalog.leave")}
          </Button>
          <Button data-autofocus onClick={() => reset?.()}>
            {t("catalog.stay")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
