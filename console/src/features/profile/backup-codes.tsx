import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyButton } from "../../components/copy-button.tsx";

interface BackupCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shown once: each signs in one time, when the app is not at hand. */
export function BackupCodes({ codes, onClose }: BackupCodesProps) {
  const [stored, setStored] = useState(false);
  const text = codes.join("\n");
  return (
    <Stack gap="sm">
      <Text size="sm">
        When the app is not at hand, each of these signs you in once. They are shown only now: keep them where you keep
        passwords, not on the device with the app.
      </Text>
      <CodeBlock code={text} label="backup codes" />
      <Checkbox
        label="I have stored them"
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <CopyButton value={text} label="Copy codes" wide />
        <Button disabled={!stored} onClick={onClose}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
