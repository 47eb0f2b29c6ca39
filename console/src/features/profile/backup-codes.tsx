import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { t } from "../../language/areas/profile.ts";

interface BackupCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Closes only after confirmation: Escape and outside clicks are ignored, because the codes are shown once. */
export const codesStay = { withCloseButton: false, closeOnClickOutside: false, closeOnEscape: false } as const;

/** Backup codes, shown once: each can be used for one sign-in without the app. */
export function BackupCodes({ codes, onClose }: BackupCodesProps) {
  const [stored, setStored] = useState(false);
  const text = codes.join("\n");
  return (
    <Stack gap="sm">
      <Text size="sm">{t("profile.backup.help")}</Text>
      <CodeBlock code={text} label={t("profile.backup.label")} />
      <Checkbox
        label={t("profile.backup.stored")}
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <CopyButton value={text} label={t("profile.backup.copy")} wide />
        <Button disabled={!stored} onClick={onClose}>
          {t("profile.done")}
        </Button>
      </Group>
    </Stack>
  );
}
