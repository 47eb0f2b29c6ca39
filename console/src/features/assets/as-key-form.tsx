import { Button, Group, Modal, Stack } from "@mantine/core";
import type { RouteId } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { asProblem, type Problem } from "../../client/problem.ts";
import { noticeDone } from "../../components/notice.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/assets.ts";
import { askAs, useKeyCall } from "../media/key-call.ts";
import { KeySelect } from "../media/key-select.tsx";
import { NoKey } from "../media/no-key.tsx";
import { useChosenKey } from "../media/use-usable-keys.ts";

interface AsKeyFormProps {
  readonly slug: string;
  readonly path: "/v1/asset-groups" | "/v1/assets";
  readonly verb: string;
  readonly done: string;
  readonly invalidates: readonly RouteId[];
  /** The body of the call; null while something is missing. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /** Those of its members that the form shows, so that it can say what is wrong with them. */
  readonly fields: readonly string[];
  readonly onDone: (answer: unknown) => void;
  readonly onClose: () => void;
  /** The fields, with the gateway's words for a wrong one. */
  readonly children: (problemOf: (param: string) => string | null) => ReactNode;
}

interface AsKeyDialogProps extends AsKeyFormProps {
  readonly title: string;
  readonly opened: boolean;
}

/** Material is made through the API, as a program makes it: with a key of the workspace. */
export function AsKeyDialog({ title, opened, ...form }: AsKeyDialogProps) {
  return (
    <Modal opened={opened} onClose={form.onClose} title={title}>
      {opened && <AsKeyForm {...form} />}
    </Modal>
  );
}

function AsKeyForm(props: AsKeyFormProps) {
  const { slug, path, verb, done, invalidates, body, fields, onDone, onClose, children } = props;
  const { key, keys, choose, problem: keysProblem, reload } = useChosenKey(slug);
  const call = useKeyCall(slug, key ?? "");
  const queries = useQueryClient();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [sending, setSending] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (body === null || key === null || sending) return;
    setSending(true);
    setProblem(null);
    try {
      const { value } = await askAs(call, path, body);
      await Promise.all(invalidates.map((route) => queries.invalidateQueries({ queryKey: [route] })));
      noticeDone(done);
      onDone(value);
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setSending(false);
    }
  };
  if (keysProblem !== null && key === null) return <ProblemAlert problem={keysProblem} onRetry={reload} />;
  if (keys !== null && key === null) return <NoKey slug={slug} what={t("assets.needsKey")} onMade={choose} />;
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {children((param) => (problem?.param === param ? problem.message : null))}
        <KeySelect
          slug={slug}
          value={key}
          onChange={choose}
          label={t("assets.key")}
          description={t("assets.keyHelp")}
        />
        {problem !== null && !fields.includes(problem.param ?? "") && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("assets.cancel")}
          </Button>
          <Button type="submit" loading={sending} disabled={body === null || key === null}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
