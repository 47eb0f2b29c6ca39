import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Problem } from "../../client/problem.ts";
import { FormProblem } from "../../components/form-problem.tsx";
import { t } from "../../language/areas/catalog.ts";

interface SaveBarProps {
  readonly shown: boolean;
  /** Why it cannot be saved; null if it can. */
  readonly blocked: string | null;
  readonly saving: boolean;
  readonly problem: Problem | null;
  readonly verb?: string;
  readonly words?: ReactNode;
  /** Buttons before the one that saves. */
  readonly actions?: ReactNode;
  readonly onDiscard: () => void;
  readonly onSave: () => void;
}

/** Stays visible below a changed form until it is saved or discarded. */
export function SaveBar(props: SaveBarProps) {
  const {
    shown,
    blocked,
    saving,
    problem,
    verb = t("catalog.save"),
    words = t("catalog.unsaved"),
    actions,
    onDiscard,
    onSave,
  } = props;
  return (
    <div className="save-bar" data-shown={shown || undefined} aria-live="polite">
      {shown && (
        <>
          <FormProblem problem={problem} />
          <Group justify="space-between" gap="xs">
            <Text size="sm">{blocked ?? words}</Text>
            <Group gap="xs">
              <Button variant="default" onClick={onDiscard} disabled={saving}>
                {t("catalog.discard")}
              </Button>
              {actions}
              <Button onClick={onSave} loading={saving} disabled={blocked !== null}>
                {verb}
              </Button>
            </Group>
          </Group>
        </>
      )}
    </div>
  );
}
