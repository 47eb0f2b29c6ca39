import { Alert, Button, Group, ScrollArea, Select, Stack, Text, TextInput } from "@mantine/core";
import { keysChangedMax, type ListedKey } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useClient } from "../../../api/call-context.tsx";
import { useCall } from "../../../api/use-call.ts";
import { Problem } from "../../../client/problem.ts";
import { CloseButton } from "../../../components/close-button.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { LimitsForm } from "../../../components/limits-form.tsx";
import { Modal } from "../../../components/modal.tsx";
import { noticeDone, noticeFailed, noticeUndo } from "../../../components/notice.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { FullBudgetForm } from "../../limits/full-budget-form.tsx";
import { keysChange } from "../../rehearsals/button/change-of.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { KeyOwnerField } from "../key-owner-field.tsx";
import {
  type BulkAction,
  type BulkInput,
  type BulkPlan,
  bulkBody,
  bulkPlan,
  type UndoStep,
  undoSteps,
} from "./bulk-plan.ts";

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly keys: readonly ListedKey[];
  /** The workspace of all keys; null: they are in several. */
  readonly workspace: string | null;
  readonly onClose: () => void;
  /** Called with the ids that did not change. */
  readonly onChanged: (failed: ReadonlySet<string>) => void;
}

interface BulkResult {
  readonly changed: readonly ListedKey[];
  readonly failed: readonly FailedKey[];
}

interface FailedKey {
  readonly key: string;
  readonly message: string;
}

const noInput: BulkInput = { owner: null, group: "", tagName: "", tagValue: "", limits: {}, budget: null };

/** Asks for the value of the action, names every key that it changes, and lists failures. */
export function BulkDialog({ action, keys, workspace, onClose, onChanged }: BulkDialogProps) {
  // The selection shrinks while the dialog shows what failed.
  const [chosen] = useState(keys);
  const [input, setInput] = useState(noInput);
  const [result, setResult] = useState<BulkResult | null>(null);
  const { run, running, problem } = useBulkChange();
  const undo = useUndo(run);
  const plan = bulkPlan(action, chosen, input);
  const body = bulkBody(action, input);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (body === null || running) return;
    const answer = await run([{ keys: plan.changes, body }]);
    if (answer === null) return;
    onChanged(new Set(answer.failed.map(({ key }) => key)));
    const changed = plan.changes.filter(({ id }) => answer.changed.has(id));
    undo(changed.length, undoSteps(action, changed, input));
    if (answer.failed.length === 0) onClose();
    else setResult({ changed, failed: answer.failed });
  };
  const title = t(`keys.bulk.titles.${action}`, { count: plan.changes.length });
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      {result === null ? (
        <form onSubmit={submit}>
          <Stack gap="md">
            {action === "revoke" && <Text size="sm">{t("keys.bulk.revokeHelp")}</Text>}
            <BulkFields action={action} workspace={workspace} input={input} onChange={setInput} />
            <PlanView plan={plan} />
            <FormProblem problem={problem} />
            <Group justify="flex-end">
              <CloseButton />
              {(action === "limits" || action === "budget") && (
                <RehearseButton change={keysChange(plan.changes, body?.changes ?? {})} workspace={workspace} />
              )}
              <Button
                type="submit"
                {...(action === "revoke" ? { color: "red" } : {})}
                loading={running}
                disabled={body === null || plan.changes.length === 0}
              >
                {title}
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <ResultView result={result} keys={chosen} onClose={onClose} />
      )}
    </Modal>
  );
}

interface BulkStep {
  readonly keys: readonly ListedKey[];
  readonly body: NonNullable<ReturnType<typeof bulkBody>>;
}

/** Sends changes in calls of bounded size. An error in a later call leaves the earlier changes in place. */
function useBulkChange() {
  const call = useClient();
  const { path } = useWorkspace();
  const queries = useQueryClient();
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = async (steps: readonly BulkStep[]) => {
    setRunning(true);
    setProblem(null);
    const failed: FailedKey[] = [];
    const changed = new Set<string>();
    try {
      for (const { keys, body } of steps) {
        for (let first = 0; first < keys.length; first += keysChangedMax) {
          const ids = keys.slice(first, first + keysChangedMax).map(({ id }) => id);
          const answer = await call("keys.changeMany", { params: { workspace: path }, body: { ...body, keys: ids } });
          failed.push(...answer.failed);
          for (const id of answer.changed) changed.add(id);
        }
      }
      return { changed, failed };
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      setProblem(thrown);
      return null;
    } finally {
      setRunning(false);
      await queries.invalidateQueries();
    }
  };
  return { run, running, problem };
}

/** Shows how many keys changed, with a button that restores them if that is possible. */
function useUndo(run: ReturnType<typeof useBulkChange>["run"]) {
  const restore = async (steps: readonly UndoStep[]) => {
    const answer = await run(steps);
    if (answer === null) noticeFailed(t("keys.bulk.undoFailed"));
    else if (answer.failed.length > 0) noticeFailed(t("keys.bulk.failed", { count: answer.failed.length }));
    else noticeDone(t("keys.bulk.undone", { count: answer.changed.size }));
  };
  return (count: number, steps: readonly UndoStep[]) => {
    if (count === 0) return;
    const message = t("keys.bulk.done", { count });
    if (steps.length === 0) noticeDone(message);
    else noticeUndo(message, () => void restore(steps));
  };
}

interface BulkFieldsProps {
  readonly action: BulkAction;
  readonly workspace: string | null;
  readonly input: BulkInput;
  readonly onChange: (input: BulkInput) => void;
}

function BulkFields({ action, workspace, input, onChange }: BulkFieldsProps) {
  const change = (part: Partial<BulkInput>) => onChange({ ...input, ...part });
  if (action === "transfer" && workspace !== null) {
    return (
      <KeyOwnerField
        workspace={workspace}
        value={input.owner}
        onChange={(owner) => change({ owner })}
        disabled={false}
        error={null}
      />
    );
  }
  if (action === "group" && workspace !== null) {
    return <GroupField workspace={workspace} value={input.group} onChange={(group) => change({ group })} />;
  }
  if (action === "limits") {
    return (
      <>
        <Text size="sm">{t("keys.bulk.limitsHelp")}</Text>
        <LimitsForm value={input.limits} onChange={(limits) => change({ limits })} />
      </>
    );
  }
  if (action === "budget") {
    return (
      <>
        <Text size="sm">{t("keys.bulk.budgetHelp")}</Text>
        <FullBudgetForm value={input.budget} onChange={(budget) => change({ budget })} />
      </>
    );
  }
  if (action !== "tag") return null;
  return (
    <Group grow align="flex-start">
      <TextInput
        label={t("keys.bulk.tagName")}
        maxLength={128}
        required
        data-autofocus
        value={input.tagName}
        onChange={(event) => change({ tagName: event.currentTarget.value })}
      />
      <TextInput
        label={t("keys.bulk.tagValue")}
        maxLength={128}
        value={input.tagValue}
        onChange={(event) => change({ tagValue: event.currentTarget.value })}
      />
    </Group>
  );
}

interface GroupFieldProps {
  readonly workspace: string;
  readonly value: string;
  readonly onChange: (group: string) => void;
}

function GroupField({ workspace, value, onChange }: GroupFieldProps) {
  const groups = useCall("groups.list", { params: { workspace } });
  return (
    <Select
      label={t("keys.group")}
      data={(groups.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={value === "" ? null : value}
      onChange={(group) => onChange(group ?? "")}
      searchable
      required
      error={groups.error?.message ?? null}
    />
  );
}

function PlanView({ plan: { changes, unchanged, fixed } }: { readonly plan: BulkPlan }) {
  return (
    <>
      {changes.length > 0 && <KeyNames label={t("keys.bulk.changes", { count: changes.length })} keys={changes} />}
      {unchanged.length > 0 && (
        <Text size="sm" c="dimmed">
          {t("keys.bulk.unchanged", { count: unchanged.length })}
        </Text>
      )}
      {fixed.length > 0 && <KeyNames label={t("keys.bulk.fixed", { count: fixed.length })} keys={fixed} />}
    </>
  );
}

function KeyNames({ label, keys }: { readonly label: string; readonly keys: readonly ListedKey[] }) {
  return (
    <div>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <ScrollArea.Autosize mah={220} type="auto" viewportProps={{ tabIndex: 0, "aria-label": label, role: "region" }}>
        <ul className="bulk-names">
          {keys.map((key) => (
            <li key={key.id}>
              {key.name} <small>{key.workspace.slug}</small>
            </li>
          ))}
        </ul>
      </ScrollArea.Autosize>
    </div>
  );
}

interface ResultViewProps {
  readonly result: BulkResult;
  readonly keys: readonly ListedKey[];
  readonly onClose: () => void;
}

/** The result of each key, shown if some did not change. */
function ResultView({ result: { changed, failed }, keys, onClose }: ResultViewProps) {
  return (
    <Stack gap="md">
      <Alert color="red" variant="light" title={t("keys.bulk.failed", { count: failed.length })}>
        <ul className="bulk-names">
          {failed.map(({ key, message }) => (
            <li key={key}>
              <strong>{keys.find(({ id }) => id === key)?.name ?? key}</strong>: {message}
            </li>
          ))}
        </ul>
      </Alert>
      {changed.length > 0 && <KeyNames label={t("keys.bulk.changed", { count: changed.length })} keys={changed} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>{t("keys.bulk.close")}</Button>
      </Group>
    </Stack>
  );
}
