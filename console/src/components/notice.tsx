import { Button, Group, Text } from "@mantine/core";
import { randomId } from "@mantine/hooks";
import { hideNotification, showNotification } from "@mantine/notifications";
import type { Problem } from "../client/problem.ts";
import { t } from "../language/areas/components.ts";

const shortMs = 4_000;
const longMs = 10_000;
const closeButtonProps = { "aria-label": t("components.actions.close") };

/** Shows a short message such as "Key revoked." in a corner for a moment. */
export function noticeDone(message: string): void {
  showNotification({ closeButtonProps, message, color: "cyan", autoClose: shortMs });
}

/** An error that did not come from the gateway. */
export function noticeFailed(message: string): void {
  showNotification({ closeButtonProps, message, color: "red", autoClose: longMs, role: "alert" });
}

/** Shows the error, what to do, and the code to quote. */
export function noticeProblem(problem: Problem): void {
  showNotification({
    closeButtonProps,
    color: "red",
    title: problem.message,
    message: noticeBody(problem),
    autoClose: longMs,
    role: "alert",
  });
}

function noticeBody({ advice, gatewayMessage, message, code, requestId }: Problem): string {
  const detail =
    gatewayMessage === null || gatewayMessage === message
      ? ""
      : ` ${t("components.problem.detail", { message: gatewayMessage })}`;
  return `${advice}${detail} (${requestId === null ? code : `${code}, ${requestId}`})`;
}

/**
 * Shows a notice with an undo button for ten seconds: `noticeUndo("Key disabled.", () => enable())`. For actions that can be undone;
 * others ask for confirmation first (`ConfirmButton`).
 */
export function noticeUndo(message: string, onUndo: () => void): void {
  // Not `crypto.randomUUID`, which is missing if the console is opened over http from another machine.
  const id = randomId();
  showNotification({
    closeButtonProps,
    id,
    color: "cyan",
    autoClose: longMs,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          variant="default"
          size="compact-xs"
          onClick={() => {
            hideNotification(id);
            onUndo();
          }}
        >
          {t("components.actions.undo")}
        </Button>
      </Group>
    ),
  });
}
