import { Button, Group, Stack } from "@mantine/core";
import type { RouteId } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { asProblem, isAbort, type Problem } from "../../client/problem.ts";
import { CloseButton } from "../../components/close-button.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { Modal } from "../../components/modal.tsx";
import { noticeDone } from "../../components/notice.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/assets.ts";
import { askAs, type KeyCall, useKeyCall } from "../media/key-call.ts";
import { KeySelect } from "../media/key-select.tsx";
import { NoKey } from "../media/no-key.tsx";
import { useChosenKey } from "../media/use-usable-keys.ts";

interface AsKeyFormProps {
  readonly slug: string;
  readonly path: "/v1/asset-groups" | "/v1/assets";
  readonly verb: string;
  readonly done: string;
  readonly invalidates: readonly RouteId[];
  /** The body of the call, JSON or a form; null while something is missing. */
  readonly body: Readonly<Record<string, unknown>> | FormData | null;
  readonly onDone: (answer: unknown) => void;
  readonly onClose: () => void;
  /** The fields. `sent`: how many bytes of a form have been sent; null while none is. */
  readonly children: (problem: Problem | null, sent: number | null) => ReactNode;
}

interface AsKeyDialogProps extends AsKeyFormProps {
  readonly title: string;
  readonly opened: boolean;
}

/** Assets are created through the API like from a program: with a key of the workspace. */
export function AsKeyDialog({ title, opened, ...form }: AsKeyDialogProps) {
  return (
    <Modal opened={opened} onClose={form.onClose} title={title}>
      {opened && <AsKeyForm {...form} />}
    </Modal>
  );
}

function AsKeyForm(props: AsKeyFormProps) {
  const { slug, path, verb, done, invalidates, body, onDone, children } = props;
  const { key, keys, choose, problem: keysProblem, reload } = useChosenKey(slug);
  const call = useKeyCall(slug, key ?? "");
  const queries = useQueryClient();
  const sending = useSending(call, path, async (value) => {
    await Promise.all(invalidates.map((route) => queries.invalidateQueries({ queryKey: [route] })));
    noticeDone(done);
    onDone(value);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (body !== null && key !== null) void sending.send(body);
  };
  if (keysProblem !== null && key === null) return <ProblemAlert problem={keysProblem} onRetry={reload} />;
  if (keys !== null && key === null) return <NoKey slug={slug} what={t("assets.needsKey")} onMade={choose} />;
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {children(sending.problem, sending.sent)}
        <KeySelect
          slug={slug}
          value={key}
          onChange={choose}
          label={t("assets.key")}
          description={t("assets.keyHelp")}
        />
        <FormProblem problem={sending.problem} />
        <Group justify="flex-end">
          {sending.sent === null ? (
            <CloseButton />
          ) : (
            <Button variant="default" onClick={sending.stop}>
              {t("assets.upload.cancel")}
            </Button>
          )}
          <Button type="submit" loading={sending.running} disabled={body === null || key === null}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** One call at a time; leaving the page aborts it. */
function useSending(call: KeyCall, path: AsKeyFormProps["path"], onAnswer: (value: unknown) => Promise<void>) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [running, setRunning] = useState(false);
  const [sent, setSent] = useState<number | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const send = async (body: NonNullable<AsKeyFormProps["body"]>) => {
    if (running) return;
    const controller = new AbortController();
    abort.current = controller;
    setRunning(true);
    setProblem(null);
    if (body instanceof FormData) setSent(0);
    try {
      const { value } = await askAs(call, path, body, { signal: controller.signal, onSent: setSent });
      await onAnswer(value);
    } catch (thrown) {
      if (!isAbort(thrown)) setProblem(asProblem(thrown));
    } finally {
      setRunning(false);
      setSent(null);
    }
  };
  return { problem, running, sent, send, stop: () => abort.current?.abort() };
}
