import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { type MouseEvent, useEffect, useRef, useState } from "react";
import { copyText } from "../browser/copy-text.ts";
import { t } from "../language/areas/components.ts";
import { noticeFailed } from "./notice.tsx";

interface CopyButtonProps {
  readonly value: string;
  /** The button's name for screen readers: "Copy key id". */
  readonly label?: string;
  /** Shows a button with text instead of an icon. */
  readonly wide?: boolean;
}

const shownMs = 2_000;

export function CopyButton({ value, label = t("components.actions.copy"), wide = false }: CopyButtonProps) {
  const { copied, copy } = useCopy(value);
  const words = copied ? t("components.copy.copied") : label;
  const icon = copied ? <IconCheck size={14} /> : <IconCopy size={14} />;
  if (wide) {
    return (
      <Button variant="default" leftSection={icon} onClick={copy} aria-live="polite">
        {words}
      </Button>
    );
  }
  return (
    <Tooltip label={words}>
      <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={words} className="above-row">
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

function useCopy(value: string) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async ({ currentTarget }: MouseEvent) => {
    const done = await copyText(value, currentTarget);
    clearTimeout(timer.current);
    setCopied(done);
    if (done) timer.current = setTimeout(() => setCopied(false), shownMs);
    else noticeFailed(t("components.copy.failed"));
  };
  return { copied, copy: (event: MouseEvent) => void copy(event) };
}

/** An id in monospace with a copy button. */
export function CopyText({ value, label }: { readonly value: string; readonly label?: string }) {
  return (
    <span className="copy-text">
      <code>{value}</code>
      <CopyButton value={value} {...(label === undefined ? {} : { label })} />
    </span>
  );
}
