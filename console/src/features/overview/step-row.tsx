import { Button, Group, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { t } from "../../language/areas/overview.ts";
import type { Step } from "../first-run/steps.ts";

interface StepRowProps {
  readonly step: Step;
  readonly place: number;
  readonly isNext: boolean;
  /** null: the step cannot be skipped. */
  readonly onSkip: (() => void) | null;
}

export function StepRow({ step: { id, done, skipped, title, why, action }, place, isNext, onSkip }: StepRowProps) {
  // Another key can always be created; all other steps are done once.
  const shown = action !== null && (!done || id === "key");
  return (
    <li className="first-step">
      <span className="first-step-mark" data-done={done || undefined}>
        {done ? <IconCheck size={15} aria-hidden /> : place}
      </span>
      <div className="grow">
        <Text fz="sm" fw={500}>
          {title}
          {done && <span className="unseen">{t("overview.steps.done")}</span>}
        </Text>
        <Text fz="xs" c="dimmed">
          {action === null && !done ? t("overview.steps.administrator") : skipped ? t("overview.steps.skipped") : why}
        </Text>
      </div>
      <Group gap="xs" flex="none" justify="flex-end">
        {onSkip !== null && (
          <Button variant="subtle" onClick={onSkip}>
            {t("overview.steps.demo")}
          </Button>
        )}
        {shown && (
          <Button variant={isNext ? "filled" : "default"} renderRoot={(props) => <Link {...action.link} {...props} />}>
            {action.label}
          </Button>
        )}
      </Group>
    </li>
  );
}
