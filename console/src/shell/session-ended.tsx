import { Button, Group, Stack, Text } from "@mantine/core";
import type { SessionAnswer } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { Modal } from "../components/modal.tsx";
import { t } from "../language/areas/shell.ts";
import { consoleBase, herePage } from "../session/next-page.ts";
import { SignInForm } from "../session/sign-in-form.tsx";

interface SessionEndedProps {
  readonly methods: SessionAnswer["methods"];
  /** The user who was signed in. */
  readonly email: string;
  readonly onLeave: () => void;
}

/** Hides the page completely: another person may be at the screen now. */
const cover = { backgroundOpacity: 1, color: "var(--mantine-color-body)" };

/**
 * The session ended while a form was open. The form stays below with its input until the same user has signed in again, here or in another
 * tab.
 */
export default function SessionEnded({ methods, email, onLeave }: SessionEndedProps) {
  const { pathname, searchStr } = useLocation();
  const queries = useQueryClient();
  return (
    <Modal
      opened
      onClose={onLeave}
      title={t("shell.ended.title")}
      size="sm"
      zIndex={400}
      overlayProps={cover}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack gap="md">
        <Text size="sm">{t("shell.ended.help")}</Text>
        <SignInForm
          methods={methods}
          email={email}
          page={consoleBase + herePage(pathname, searchStr)}
          pageStays
          onDone={() => void queries.invalidateQueries({ queryKey: ["session.show"] })}
        />
        <Group justify="flex-end">
          <Button variant="subtle" onClick={onLeave}>
            {t("shell.ended.leave")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
