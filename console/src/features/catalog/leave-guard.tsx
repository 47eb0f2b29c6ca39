import { Button, Group, Stack, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { Modal } from "../../components/modal.tsx";
import { useOpenForm } from "../../components/open-form.ts";
import { t } from "../../language/areas/catalog.ts";
import { leaves } from "./leaves.ts";

interface LeaveGuardProps {
  readonly dirty: boolean;
  /** Saving or saved, so leaving needs no confirmation. After a refusal the changes can still be lost. */
  readonly sent?: boolean;
  /** URL parameters that keep the form open: if the tab changes or the drawer closes, the input is lost too. */
  readonly openedBy?: readonly string[];
}

/** Asks for confirmation before the user leaves a form with unsaved changes. */
export function LeaveGuard({ dirty, sent = false, openedBy = [] }: LeaveGuardProps) {
  const open = dirty && !sent;
  useOpenForm(dirty);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => open && leaves(current, next, openedBy),
    enableBeforeUnload: open,
    withResolver: true,
  });
  return (
    <Modal opened={status === "blocked"} onClose={() => reset?.()} title={t("catalog.leave.title")}>
      <Stack gap="md">
        <Text size="sm">{t("catalog.leave.help")}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => proceed?.()}>
            {t("catalog.leave.leave")}
          </Button>
          <Button data-autofocus onClick={() => reset?.()}>
            {t("catalog.leave.stay")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
