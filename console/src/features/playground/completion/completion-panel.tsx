import { Group, NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { IconCursorText } from "@tabler/icons-react";
import { CopyButton } from "../../../components/copy-button.tsx";
import { NumberField } from "../../../components/number-field.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { fieldProblems } from "../../media/field-problems.ts";
import { useTabState } from "../../media/tab-state.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { useRun } from "../use-run.ts";
import { type Completed, type CompletionDraft, complete, completionBody, plainCompletion } from "./complete.ts";

const fields = ["prompt", "suffix", "max_tokens", "temperature"];

/** Completes a prompt, or fills the gap before a suffix. */
export function CompletionPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<CompletionDraft>("playground.completion.draft", plainCompletion);
  const run = useRun<Completed>(`playground.completion:${call.workspace}`);
  const set = (change: Partial<CompletionDraft>) => setDraft((before) => ({ ...before, ...change }));
  const { of: errorOf, marked } = fieldProblems(run.problem, fields);
  const body = () =>
    completionBody(model, draft.prompt === "" ? { ...draft, prompt: t("playground.completion.sample") } : draft);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.completion.title")}
        actions={<SameCallButton make={() => ({ path: "/v1/completions", sdk: "completions", body: body() })} />}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (draft.prompt !== "") run.start((signal, show) => complete(call, body(), { signal, show }));
          }}
        >
          <Stack gap="sm">
            <Textarea
              label={t("playground.form.prompt")}
              placeholder="def fib(n):"
              autosize
              minRows={4}
              maxRows={16}
              required
              className="written"
              spellCheck={false}
              value={draft.prompt}
              error={errorOf("prompt")}
              onChange={(event) => set({ prompt: event.currentTarget.value })}
            />
            <Textarea
              label={t("playground.completion.suffix")}
              description={t("playground.completion.suffixHelp")}
              placeholder="print(fib(8))"
              autosize
              minRows={2}
              maxRows={10}
              className="written"
              spellCheck={false}
              value={draft.suffix}
              error={errorOf("suffix")}
              onChange={(event) => set({ suffix: event.currentTarget.value })}
            />
            <Group grow gap="xs" align="flex-start">
              <NumberInput
                label={t("playground.settings.maxTokens")}
                placeholder={t("playground.settings.default")}
                min={1}
                allowDecimal={false}
                value={draft.maxTokens ?? ""}
                error={errorOf("max_tokens")}
                onChange={(next) => set({ maxTokens: typeof next === "number" ? next : null })}
              />
              <NumberField
                label={t("playground.settings.temperature")}
                placeholder={t("playground.settings.default")}
                min={0}
                max={2}
                step={0.1}
                value={draft.temperature}
                error={errorOf("temperature")}
                onChange={(temperature) => set({ temperature })}
              />
            </Group>
            <RunButton run={run} marked={marked} disabled={draft.prompt === ""}>
              {t("playground.completion.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section
        title={t("playground.completion.result")}
        actions={run.result !== null && <CopyButton value={run.result.text} label={t("playground.completion.copy")} />}
      >
        <RunOutcome
          run={run}
          workspace={call.workspace}
          fields={fields}
          icon={<IconCursorText />}
          title={t("playground.completion.none")}
          hint={t("playground.completion.noneHelp")}
        >
          {run.result !== null && <CompletedText completed={run.result} />}
        </RunOutcome>
      </Section>
    </div>
  );
}

function CompletedText({ completed: { prompt, text, suffix, finish } }: { readonly completed: Completed }) {
  return (
    <>
      <pre className="completed">
        <span className="completed-given">{prompt}</span>
        <mark>{text}</mark>
        <span className="completed-given">{suffix}</span>
      </pre>
      {finish === "length" && (
        <Text size="xs" c="dimmed">
          {t("playground.completion.cut")}
        </Text>
      )}
    </>
  );
}
