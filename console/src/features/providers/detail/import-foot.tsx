import { Button, Group, Text } from "@mantine/core";
import type { Problem } from "../../../client/problem.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/providers.ts";
import { choiceMax } from "./import-choice.ts";

interface ImportFootProps {
  readonly chosen: number;
  /** How many selected models cannot be imported. */
  readonly wrong: number;
  readonly saving: boolean;
  readonly problem: Problem | null;
  readonly onClear: () => void;
  readonly onImport: () => void;
}

/** Stays visible while a long list is scrolled. */
export function ImportFoot({ chosen, wrong, saving, problem, onClear, onImport }: ImportFootProps) {
  if (chosen === 0) return null;
  return (
    <div className="list-foot">
      {problem !== null && <ProblemAlert problem={problem} />}
      <Group justify="space-between" gap="xs">
        <Text size="sm" aria-live="polite">
          {t(chosen >= choiceMax ? "providers.import.most" : "providers.import.chosen", { count: chosen })}
          {wrong > 0 && <span className="failed-share">{t("providers.import.wrong", { count: wrong })}</span>}
        </Text>
        <Group gap="xs">
          <Button variant="default" onClick={onClear}>
            {t("providers.import.clear")}
          </Button>
          <Button onClick={onImport} loading={saving} disabled={wrong > 0}>
            {t("providers.import.import", { count: chosen })}
          </Button>
        </Group>
      </Group>
    </div>
  );
}
