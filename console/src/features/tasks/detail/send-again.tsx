import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import type { TaskDetail } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { asProblem, type Problem } from "../../../client/problem.ts";
import { CloseButton } from "../../../components/close-button.tsx";
import { Modal } from "../../../components/modal.tsx";
import { noticeDone } from "../../../components/notice.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Rich, t } from "../../../language/areas/tasks.ts";
import { askAs, useKeyCall } from "../../media/key-call.ts";
import { KeySelect } from "../../media/key-select.tsx";
import { NoKey } from "../../media/no-key.tsx";
import { randomId } from "../../media/random-id.ts";
import { useChosenKey } from "../../media/use-usable-keys.ts";

interface SendAgainProps {
  readonly slug: string;
  readonly task: TaskDetail;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Sends the same body as a new task, which is charged separately. */
export function SendAgain({ opened, ...rest }: SendAgainProps) {
  return (
    <Modal opened={opened} onClose={rest.onClose} title={t("tasks.resend.title")}>
      {opened && <SendAgainForm {...rest} />}
    </Modal>
  );
}

function SendAgainForm({ slug, task, onClose }: Omit<SendAgainProps, "opened">) {
  const { key, keys, choose, problem: keysProblem, reload } = useChosenKey(slug);
  const call = useKeyCall(slug, key ?? "");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [quiet, setQuiet] = useState(true);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [sending, setSending] = useState(false);
  // The same for all attempts of this dialog, so that a second click after a lost answer creates no second video.
  const once = useRef(randomId());
  const calledBack = typeof task.request["callback_url"] === "string";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (key === null || sending) return;
    setSending(true);
    setProblem(null);
    try {
      const { callback_url: _, ...silent } = task.request;
      const headers = { "idempotency-key": once.current };
      const { value } = await askAs(call, "/v1/video/tasks", calledBack && quiet ? silent : task.request, { headers });
      await queries.invalidateQueries({ queryKey: ["tasks.list"] });
      noticeDone(t("tasks.resend.done"));
      onClose();
      const id = value !== null && typeof value === "object" ? Reflect.get(value, "id") : null;
      if (typeof id === "string")
        await navigate({ to: "/media/$task", params: { task: id }, search: { workspace: slug } });
    } catch (thrown) {
      const failed = asProblem(thrown);
      setProblem(failed);
      // The gateway stores a refusal under its idempotency key, so a retry needs a new key. After an error of a proxy, the outcome is
      // unknown, so the key must stay the same.
      if (failed.gatewayMessage !== null) once.current = randomId();
    } finally {
      setSending(false);
    }
  };
  if (keysProblem !== null && key === null) return <ProblemAlert problem={keysProblem} onRetry={reload} />;
  if (keys !== null && key === null) return <NoKey slug={slug} what={t("tasks.resend.needsKey")} onMade={choose} />;
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">
          <Rich
            text="tasks.resend.help"
            tags={{ b: (model) => <strong className="break">{model}</strong> }}
            values={{ model: task.model }}
          />
        </Text>
        <KeySelect
          slug={slug}
          value={key}
          onChange={choose}
          label={t("tasks.resend.key")}
          description={t("tasks.resend.keyHelp")}
        />
        {calledBack && (
          <Checkbox
            label={t("tasks.resend.quiet")}
            checked={quiet}
            onChange={(event) => setQuiet(event.currentTarget.checked)}
          />
        )}
        {problem !== null && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          <CloseButton label={t("tasks.cancel.close")} />
          <Button type="submit" loading={sending} disabled={key === null}>
            {t("tasks.resend.run")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
