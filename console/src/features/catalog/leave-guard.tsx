import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";

/** Asks before the page is left while something on it is not saved. Another tab of the same page is no leaving. */
export function LeaveGuard({ dirty }: { readonly dirty: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    enableBeforeUnload: dirty,
    withResolver: true,
  });
  return (
    <Modal opened={status === "blocked"} onClose={() => reset?.()} title="Leave without saving?">
      <Stack gap="md">
        <Text size="sm">What you changed on this page is not saved and would be lost.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => proceed?.()}>
            Leave
          </Button>
          <Button data-autofocus onClick={() => reset?.()}>
            Stay
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
