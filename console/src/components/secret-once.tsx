import { Alert, Button, Checkbox, Group, Stack } from "@mantine/core";
import { IconEyeOff } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { t } from "../language/areas/components.ts";
import { CodeBlock } from "./code-block.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Modal } from "./modal.tsx";

interface SecretOnceProps {
  /** null: nothing to show, the dialog is closed. */
  readonly secret: string | null;
  readonly title: string;
  /** The name of the secret: a key, a token or a one-time link. */
  readonly what?: "secret" | "link";
  /** Explains what the secret is for and where to store it. */
  readonly children?: ReactNode;
  /** A link shown once the secret is stored. */
  readonly onward?: { readonly label: string; readonly go: () => void } | undefined;
  readonly onClose: () => void;
}

/** A secret that is shown only once. It stays until the user confirms that they stored it. */
export function SecretOnce({ secret, title, what = "secret", children, onward, onClose }: SecretOnceProps) {
  return (
    <Modal
      opened={secret !== null}
      onClose={onClose}
      title={title}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {secret !== null && (
        <SecretBody key={secret} secret={secret} what={what} onward={onward} onClose={onClose}>
          {children}
        </SecretBody>
      )}
    </Modal>
  );
}

interface SecretBodyProps {
  readonly secret: string;
  readonly what: "secret" | "link";
  readonly children: ReactNode;
  readonly onward: SecretOnceProps["onward"];
  readonly onClose: () => void;
}

const copyWords = { secret: t("components.secret.copySecret"), link: t("components.secret.copyLink") };

function SecretBody({ secret, what, children, onward, onClose }: SecretBodyProps) {
  const [stored, setStored] = useState(false);
  return (
    <Stack gap="md">
      <Alert variant="light" color="yellow" icon={<IconEyeOff size={18} />} title={t("components.secret.title")}>
        {t("components.secret.help")}
      </Alert>
      <CodeBlock code={secret} label={t(`components.secret.${what}`)} wrap />
      {children}
      <Checkbox
        label={t("components.secret.stored")}
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <CopyButton value={secret} label={copyWords[what]} wide />
        {onward !== undefined && (
          <Button variant="default" disabled={!stored} onClick={onward.go}>
            {onward.label}
          </Button>
        )}
        <Button disabled={!stored} onClick={onClose}>
          {t("components.actions.done")}
        </Button>
      </Group>
    </Stack>
  );
}
