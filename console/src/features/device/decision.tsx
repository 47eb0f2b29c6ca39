import { Alert, Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import type { WaitingAgent } from "@sluice/contract";
import { useEffect, useRef, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { Facts } from "../../components/facts.tsx";
import { When } from "../../components/figures.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { t } from "../../language/areas/device.ts";

interface DecisionProps {
  readonly waiting: WaitingAgent;
  readonly onDecided: (decided: "approved" | "denied") => void;
}

/** Shows which device asks, so that the user can compare it, and approves it for one workspace or denies it. */
export function Decision({ waiting, onDecided }: DecisionProps) {
  const { code, workspaces } = waiting;
  const [workspace, setWorkspace] = useState(workspaces[0]?.id ?? "");
  const approve = useAct("agents.approve", {
    inline: true,
    invalidates: ["agents.list"],
    onDone: () => onDecided("approved"),
  });
  const question = useRef<HTMLParagraphElement>(null);
  // The form that had the focus is gone: keyboard and screen reader users continue at the question.
  useEffect(() => question.current?.focus(), []);
  const deny = useAct("agents.deny", { inline: true, onDone: () => onDecided("denied") });
  return (
    <Stack>
      <Text ref={question} tabIndex={-1} fw={600}>
        {t("device.compare")}
      </Text>
      <Text component="output" ff="monospace" fz="var(--text-display)" lh="var(--leading-tight)">
        {code}
      </Text>
      <Text size="sm">{t("device.compareHelp")}</Text>
      <Facts
        facts={[
          { name: t("device.program"), value: waiting.client || t("device.unknownProgram"), wide: true },
          { name: t("device.address"), value: <code>{waiting.ip}</code> },
          { name: t("device.started"), value: <When at={waiting.created_at} /> },
        ]}
      />
      {workspaces.length === 0 ? (
        <Alert color="yellow">{t("device.noWorkspace")}</Alert>
      ) : (
        <NativeSelect
          label={t("device.workspace")}
          description={t("device.workspaceHelp")}
          value={workspace}
          onChange={(event) => setWorkspace(event.currentTarget.value)}
          data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <FormProblem problem={approve.error ?? deny.error} />
      <Group justify="flex-end">
        <Button variant="default" loading={deny.isPending} onClick={() => deny.mutate({ body: { code } })}>
          {t("device.deny")}
        </Button>
        <Button
          loading={approve.isPending}
          disabled={workspace === ""}
          onClick={() => approve.mutate({ body: { code, workspace } })}
        >
          {t("device.approve")}
        </Button>
      </Group>
    </Stack>
  );
}
