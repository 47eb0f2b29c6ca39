import { Stack, Text, Textarea } from "@mantine/core";
import { IconHelpCircle } from "@tabler/icons-react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { fieldProblems } from "../../media/field-problems.ts";
import { useTabState } from "../../media/tab-state.ts";
import { linesOf } from "../embeddings/vectors.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { ScoreList } from "../score-list.tsx";
import { useRun } from "../use-run.ts";
import { type DecisionDraft, type Decisions, decide, decisionBody, plainDecision } from "./decisions.ts";

const sample = {
  text: t("playground.decision.sampleText"),
  statements: [t("playground.decision.sampleTrue"), t("playground.decision.sampleOther")],
};

const fields = ["input", "questions"];

/** Shows how likely statements about a text are. */
export function DecisionPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<DecisionDraft>("playground.decision.draft", plainDecision);
  const run = useRun<Decisions>(`playground.decision:${call.workspace}`);
  const set = (change: Partial<DecisionDraft>) => setDraft((before) => ({ ...before, ...change }));
  const statements = linesOf(draft.statements);
  const ready = draft.text.trim() !== "" && statements.length > 0;
  const { of: errorOf, marked } = fieldProblems(run.problem, fields);
  const body = () =>
    ready ? decisionBody(model, draft.text, statements) : decisionBody(model, sample.text, sample.statements);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.decision.title")}
        actions={<SameCallButton make={() => ({ path: "/v1/decisions", sdk: "decisions", body: body() })} />}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) run.start((signal) => decide(call, body(), signal));
          }}
        >
          <Stack gap="sm">
            <Textarea
              label={t("playground.form.text")}
              placeholder={sample.text}
              autosize
              minRows={3}
              maxRows={16}
              required
              value={draft.text}
              error={errorOf("input")}
              onChange={(event) => set({ text: event.currentTarget.value })}
            />
            <Textarea
              label={t("playground.decision.statements")}
              description={t("playground.decision.statementsHelp")}
              placeholder={sample.statements.join("\n")}
              autosize
              minRows={3}
              maxRows={16}
              required
              value={draft.statements}
              error={errorOf("questions")}
              onChange={(event) => set({ statements: event.currentTarget.value })}
            />
            <RunButton run={run} marked={marked} disabled={!ready}>
              {t("playground.decision.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.decision.result")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          fields={fields}
          icon={<IconHelpCircle />}
          title={t("playground.decision.none")}
          hint={t("playground.decision.noneHelp")}
        >
          {run.result?.answers.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t("playground.decision.empty")}
            </Text>
          ) : (
            <ScoreList
              label={t("playground.decision.result")}
              rows={(run.result?.answers ?? []).map(({ statement, probability }, at) => ({
                id: String(at),
                name: statement,
                ...(probability === null ? { note: t("playground.decision.refused"), tone: "bad" as const } : {}),
                score: probability ?? 0,
              }))}
            />
          )}
        </RunOutcome>
      </Section>
    </div>
  );
}
