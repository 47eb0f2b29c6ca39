import { Button, Group, Select, Stack, Text } from "@mantine/core";
import type { RehearsedChange } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { CloseButton } from "../../../components/close-button.tsx";
import { Modal } from "../../../components/modal.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import { RehearsalOutcome } from "../result/rehearsal-outcome.tsx";
import { isOpen, useRehearsal } from "../use-rehearsal.ts";
import { periodSpan, type RehearsalPeriod, rehearsalPeriods } from "./periods.ts";

export interface StartedRehearsal {
  readonly id: string;
  /** The change that it replays, as text. */
  readonly change: string;
}

interface RehearseDialogProps {
  readonly change: RehearsedChange;
  readonly workspace: string | null;
  readonly started: StartedRehearsal | null;
  readonly onStart: (started: StartedRehearsal) => void;
  readonly onClose: () => void;
}

const periodChoices = rehearsalPeriods.map((value) => ({ value, label: t(`rehearsals.periods.${value}`) }));

/** Asks for the period, and shows progress and result. A rehearsal continues while the dialog is closed. */
export default function RehearseDialog({ change, workspace, started, onStart, onClose }: RehearseDialogProps) {
  const [period, setPeriod] = useState<RehearsalPeriod>("7d");
  const { rehearsal, problem, reload, cancel, isCancelling } = useRehearsal(started?.id ?? null);
  const text = JSON.stringify(change);
  const create = useAct("rehearsals.create", {
    inline: true,
    invalidates: ["rehearsals.list"],
    onDone: ({ id }) => onStart({ id, change: text }),
  });
  const start = () => {
    const place = workspace === null ? {} : { workspace };
    create.mutate({ body: { change, ...place, ...periodSpan(period, Date.now()) } });
  };
  const running = rehearsal !== null && isOpen(rehearsal);
  return (
    <Modal opened onClose={onClose} title={t("rehearsals.dialog.title")} size="62rem" asks={false}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t("rehearsals.dialog.help")}
        </Text>
        <Group gap="xs" align="flex-end">
          <Select
            label={t("rehearsals.period")}
            data={periodChoices}
            value={period}
            onChange={(value) => setPeriod(rehearsalPeriods.find((each) => each === value) ?? "7d")}
            allowDeselect={false}
            disabled={running}
            w={180}
          />
          <Button onClick={start} loading={create.isPending} disabled={running} data-autofocus>
            {started === null ? t("rehearsals.dialog.start") : t("rehearsals.dialog.again")}
          </Button>
        </Group>
        {create.error !== null && <ProblemAlert problem={create.error} />}
        {problem !== null && <ProblemAlert problem={problem} onRetry={reload} />}
        {started !== null && started.change !== text && (
          <Text size="sm" c="dimmed">
            {t("rehearsals.dialog.old")}
          </Text>
        )}
        {rehearsal !== null && (
          <RehearsalOutcome rehearsal={rehearsal} onCancel={cancel} isCancelling={isCancelling} inDialog />
        )}
        <Group justify="flex-end" gap="xs">
          {started !== null && (
            <Button
              variant="default"
              // In another tab, because the form is not saved.
              renderRoot={(props) => (
                <Link to="/rehearsals/$rehearsal" params={{ rehearsal: started.id }} target="_blank" {...props} />
              )}
            >
              {t("rehearsals.dialog.page")}
            </Button>
          )}
          <CloseButton label={t("rehearsals.dialog.close")} />
        </Group>
      </Stack>
    </Modal>
  );
}
