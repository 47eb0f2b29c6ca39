import { NumberInput, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconSortDescending } from "@tabler/icons-react";
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
import { plainRerank, type Ranking, type RerankDraft, rerank, rerankBody } from "./ranking.ts";

const sample = {
  query: t("playground.rerank.sampleQuery"),
  documents: [t("playground.rerank.sampleMatch"), t("playground.rerank.sampleOther")],
};

const fields = ["query", "documents", "top_n"];

/** Ranks documents by their relevance to a query. */
export function RerankPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<RerankDraft>("playground.rerank.draft", plainRerank);
  const run = useRun<Ranking>(`playground.rerank:${call.workspace}`);
  const set = (change: Partial<RerankDraft>) => setDraft((before) => ({ ...before, ...change }));
  const documents = linesOf(draft.documents);
  const ready = draft.query.trim() !== "" && documents.length > 0;
  const { of: errorOf, marked } = fieldProblems(run.problem, fields);
  const body = () =>
    ready
      ? rerankBody(model, draft.query, documents, draft.top)
      : rerankBody(model, sample.query, sample.documents, draft.top);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.rerank.title")}
        actions={<SameCallButton make={() => ({ path: "/v1/rerank", sdk: "rerank", body: body() })} />}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) run.start((signal) => rerank(call, body(), signal));
          }}
        >
          <Stack gap="sm">
            <TextInput
              label={t("playground.rerank.query")}
              placeholder={sample.query}
              required
              value={draft.query}
              error={errorOf("query")}
              onChange={(event) => set({ query: event.currentTarget.value })}
            />
            <Textarea
              label={t("playground.rerank.documents")}
              description={t("playground.rerank.documentsHelp")}
              placeholder={sample.documents.join("\n")}
              autosize
              minRows={5}
              maxRows={16}
              required
              value={draft.documents}
              error={errorOf("documents")}
              onChange={(event) => set({ documents: event.currentTarget.value })}
            />
            <NumberInput
              label={t("playground.rerank.top")}
              placeholder={t("playground.rerank.topAll")}
              min={1}
              allowDecimal={false}
              value={draft.top ?? ""}
              error={errorOf("top_n")}
              onChange={(next) => set({ top: typeof next === "number" ? next : null })}
            />
            <RunButton run={run} marked={marked} disabled={!ready}>
              {t("playground.rerank.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.rerank.ranking")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          fields={fields}
          icon={<IconSortDescending />}
          title={t("playground.rerank.none")}
          hint={t("playground.rerank.noneHelp")}
        >
          {run.result?.ranked.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t("playground.rerank.empty")}
            </Text>
          ) : (
            <ScoreList
              label={t("playground.rerank.ranking")}
              rows={(run.result?.ranked ?? []).map(({ document, place, score }) => ({
                id: String(place),
                name: document,
                note: t("playground.rerank.document", { place }),
                score,
              }))}
            />
          )}
        </RunOutcome>
      </Section>
    </div>
  );
}
