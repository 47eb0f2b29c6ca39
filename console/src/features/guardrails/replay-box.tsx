import { Button, Group, Progress, Select, Stack, Text } from "@mantine/core";
import { everyWorkspace } from "@sluice/contract";
import { useState } from "react";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { checkBlockedBy, findsPlaces, type GuardrailDraft } from "./guardrail-draft.ts";
import { progressOf, type ReplayPeriod, replayBodyOf, replayPeriods } from "./replay.ts";
import { ReplayResult } from "./replay-result.tsx";
import { useReplay } from "./use-replay.ts";

/** Runs the guardrail of a form over captured requests. */
export function ReplayBox({ draft }: { readonly draft: GuardrailDraft }) {
  const [period, setPeriod] = useState<ReplayPeriod>("7d");
  const [tried, setTried] = useState<{ readonly rule: string; readonly period: ReplayPeriod } | null>(null);
  const { isRunning, answer, problem, start, cancel } = useReplay(draft.workspace ?? everyWorkspace);
  if (!findsPlaces(draft.kind)) {
    return (
      <Text size="sm" c="dimmed">
        {t("guardrails.replay.notLocal")}
      </Text>
    );
  }
  const rule = JSON.stringify(replayBodyOf(draft, period, 0));
  const run = () => {
    setTried({ rule, period });
    void start(replayBodyOf(draft, period, Date.now()));
  };
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t("guardrails.replay.help")}
      </Text>
      <Group gap="xs" align="flex-end">
        <Select
          label={t("guardrails.replay.period")}
          data={replayPeriods.map((value) => ({ value, label: t(`guardrails.replay.periods.${value}`) }))}
          value={period}
          onChange={(value) => setPeriod(replayPeriods.find((each) => each === value) ?? "7d")}
          allowDeselect={false}
          disabled={isRunning}
          w={180}
        />
        {isRunning ? (
          <Button variant="default" onClick={cancel}>
            {t("guardrails.replay.cancel")}
          </Button>
        ) : (
          <Button variant="default" disabled={checkBlockedBy(draft) !== null} onClick={run}>
            {t("guardrails.replay.run")}
          </Button>
        )}
      </Group>
      {isRunning && (
        <Progress value={answer === null ? 0 : progressOf(answer)} aria-label={t("guardrails.replay.progress")} />
      )}
      {problem !== null && <ProblemAlert problem={problem} />}
      <div role="status">
        {answer !== null && tried !== null && (
          <Stack gap="xs">
            {tried.rule !== rule && (
              <Text size="xs" c="dimmed">
                {t("guardrails.replay.old")}
              </Text>
            )}
            <ReplayResult answer={answer} period={tried.period} isStopped={!isRunning && answer.next !== null} />
          </Stack>
        )}
      </div>
    </Stack>
  );
}
