import { Alert, Button, Group, Progress, Stack, Text } from "@mantine/core";
import type { RehearsalWithResult } from "@sluice/contract";
import { t } from "../../../language/areas/rehearsals.ts";
import { isOpen } from "../use-rehearsal.ts";
import { RehearsalResultView } from "./rehearsal-result.tsx";
import { ResultPlaceContext } from "./result-link.tsx";

interface RehearsalOutcomeProps {
  readonly rehearsal: RehearsalWithResult;
  readonly onCancel: () => void;
  readonly isCancelling: boolean;
  readonly inDialog?: boolean;
}

/** The progress of a rehearsal, then its result, or why it has none. */
export function RehearsalOutcome({ rehearsal, onCancel, isCancelling, inDialog = false }: RehearsalOutcomeProps) {
  const { state, entries_read: read, progress, result, problem } = rehearsal;
  if (isOpen(rehearsal)) {
    return (
      <Stack gap="xs">
        <Progress value={100 * progress} aria-label={t("rehearsals.progress.label")} />
        <Group justify="space-between" gap="xs">
          <Text size="sm" c="dimmed" role="status">
            {state === "waiting" ? t("rehearsals.progress.waiting") : t("rehearsals.progress.running", { read })}
          </Text>
          <Button variant="default" size="xs" onClick={onCancel} loading={isCancelling}>
            {t("rehearsals.progress.cancel")}
          </Button>
        </Group>
      </Stack>
    );
  }
  if (state === "cancelled") return <Text size="sm">{t("rehearsals.progress.cancelled")}</Text>;
  if (result === null) {
    return (
      <Alert color="red" variant="light" title={t("rehearsals.progress.failed")}>
        {problem}
      </Alert>
    );
  }
  return (
    <ResultPlaceContext value={{ rehearsal, inDialog }}>
      <RehearsalResultView result={result} span={rehearsal} />
    </ResultPlaceContext>
  );
}
