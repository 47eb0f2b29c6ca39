import { ActionIcon, Button, CopyButton as Copy, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { t } from "../language/areas/components.ts";

interface CopyButtonProps {
  readonly value: string;
  /** What is copied, for those who hear the page: "Copy key id". */
  readonly label?: string;
  /** A button with words instead of an icon. */
  readonly wide?: boolean;
}

const shownMs = 2_000;

export function CopyButton({ value, label = t("components.actions.copy"), wide = false }: CopyButtonProps) {
  return (
    <Copy value={value} timeout={shownMs}>
      {({ copied, copy }) =>
        wide ? (
          <Button
            variant="default"
            leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            onClick={copy}
            aria-live="polite"
          >
            {copied ? t("components.copy.copied") : label}
          </Button>
        ) : (
          <Tooltip label={copied ? t("components.copy.copied") : label}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              onClick={copy}
              aria-label={copied ? t("components.copy.copied") : label}
              className="above-row"
            >
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </ActionIcon>
          </Tooltip>
        )
      }
    </Copy>
  );
}

/** An id in fixed width with its copy button. */
export function CopyText({ value, label }: { readonly value: string; readonly label?: string }) {
  return (
    <span className="copy-text">
      <code>{value}</code>
      <CopyButton value={value} {...(label === undefined ? {} : { label })} />
    </span>
  );
}
