import { NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { IconVector } from "@tabler/icons-react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { fieldProblems } from "../../media/field-problems.ts";
import { askAs, type CallInfo, type KeyCall } from "../../media/key-call.ts";
import { useTabState } from "../../media/tab-state.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { useRun } from "../use-run.ts";
import { VectorTable } from "./vector-table.tsx";
import { inputTokensIn, linesOf, vectorsIn } from "./vectors.ts";

interface EmbeddingDraft {
  readonly text: string;
  readonly dimensions: number | null;
}

interface Embedded {
  readonly lines: readonly string[];
  readonly vectors: readonly (readonly number[])[];
  readonly info: CallInfo;
  readonly totalMs: number;
  readonly inputTokens: number | null;
}

const plainDraft: EmbeddingDraft = { text: "", dimensions: null };
const fields = ["input", "dimensions"];

/** Creates embeddings of texts, and shows their similarity to the first. */
export function EmbeddingsPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<EmbeddingDraft>("playground.embedding.draft", plainDraft);
  const run = useRun<Embedded>(`playground.embedding:${call.workspace}`);
  const set = (change: Partial<EmbeddingDraft>) => setDraft((before) => ({ ...before, ...change }));
  const { of: errorOf, marked } = fieldProblems(run.problem, fields);
  const lines = linesOf(draft.text);
  const body = () => embeddingBody(model, lines.length === 0 ? [t("playground.form.hello")] : lines, draft.dimensions);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.embedding.title")}
        actions={<SameCallButton make={() => ({ path: "/v1/embeddings", sdk: "embeddings", body: body() })} />}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (lines.length > 0) run.start((signal) => embed(call, body(), lines, signal));
          }}
        >
          <Stack gap="sm">
            <Textarea
              label={t("playground.embedding.texts")}
              description={t("playground.embedding.textsHelp")}
              placeholder={t("playground.embedding.sample")}
              autosize
              minRows={5}
              maxRows={16}
              required
              value={draft.text}
              error={errorOf("input")}
              onChange={(event) => set({ text: event.currentTarget.value })}
            />
            <NumberInput
              label={t("playground.embedding.dimensions")}
              placeholder={t("playground.settings.default")}
              min={1}
              allowDecimal={false}
              value={draft.dimensions ?? ""}
              error={errorOf("dimensions")}
              onChange={(next) => set({ dimensions: typeof next === "number" ? next : null })}
            />
            <RunButton run={run} marked={marked} disabled={lines.length === 0}>
              {t("playground.embedding.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.embedding.vectors")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          fields={fields}
          icon={<IconVector />}
          title={t("playground.embedding.none")}
          hint={t("playground.embedding.noneHelp")}
        >
          {run.result !== null && <EmbeddedTexts embedded={run.result} />}
        </RunOutcome>
      </Section>
    </div>
  );
}

function EmbeddedTexts({ embedded: { lines, vectors } }: { readonly embedded: Embedded }) {
  if (vectors.length > 0) return <VectorTable lines={lines} vectors={vectors} />;
  return (
    <Text size="sm" c="dimmed">
      {t("playground.embedding.empty")}
    </Text>
  );
}

function embeddingBody(model: string, input: readonly string[], dimensions: number | null) {
  return {
    model,
    input: input.length === 1 ? input[0] : input,
    ...(dimensions === null ? {} : { dimensions }),
  };
}

async function embed(call: KeyCall, body: object, lines: readonly string[], signal: AbortSignal): Promise<Embedded> {
  const answered = await askAs(call, "/v1/embeddings", body, { signal });
  const { value, totalMs } = answered;
  return { lines, vectors: vectorsIn(value), info: answered, totalMs, inputTokens: inputTokensIn(value) };
}
