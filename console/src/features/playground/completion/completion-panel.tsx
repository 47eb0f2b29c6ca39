import { Group, NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { IconCursorText } from "@tabler/icons-react";
import { CopyButton } from "../../../components/copy-button.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { useKept } from "../../media/kept.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { useRun } from "../use-run.ts";
import { type Completed, type CompletionDraft, complete, completionBody, plainCompletion } from "./complete.ts";

/** Goes on from a prompt, or fills in between it and a suffix. */
export function CompletionPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useKept<CompletionDraft>(t("playground.completionDraft"), plainCompletion);
  const run = useRun<Completed>(t("playground.completionOf", { workspace: call.workspace }));
  const set = (change: Partial<CompletionDraft>) => setDraft((before) => ({ ...before, ...change }));
  const errorOf = (param: string) => (run.problem?.param === param ? run.problem.message : null);
  const body = () =>
    completionBody(model, draft.prompt === "" ? { ...draft, prompt: t("playground.onceUponATime") } : draft);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.complete")}
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
              label={t("playground.prompt")}
              placeholder={t("playground.defFibN")}
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
              label={t("playground.suffix")}
              description={t("playground.textAfterTheGapFor")}
              placeholder={t("playground.printFib8")}
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
                label={t("playground.maxTokens")}
                placeholder={t("playground.default")}
                min={1}
                allowDecimal={false}
                value={draft.maxTokens ?? ""}
                error={errorOf("max_tokens")}
                onChange={(next) => set({ maxTokens: typeof next === "number" ? next : null })}
              />
              <NumberInput
                label={t("playground.temperature")}
                placeholder={t("playground.default")}
                min={0}
                max={2}
                step={0.1}
                value={draft.temperature ?? ""}
                error={errorOf("temperature")}
                onChange={(next) => set({ temperature: typeof next === "number" ? next : null })}
              />
            </Group>
            <RunButton run={run} disabled={draft.prompt === ""}>
              {t("playground.complete")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section
        title={t("playground.completion")}
        actions={run.result !== null && <CopyButton value={run.result.text} label={t("playground.copyCompletion")} />}
      >
        <RunOutcome
          run={run}
          workspace={call.workspace}
          icon={<IconCursorText />}
          title={t("playground.noCompletionYet")}
          hint={t("playground.theModelGoesOnWhere")}
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
          {t("playground.itEndedAtTheLimit")}
        </Text>
      )}
    </>
  );
}
