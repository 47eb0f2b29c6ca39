import { NumberInput, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconSortDescending } from "@tabler/icons-react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { useKept } from "../../media/kept.ts";
import { linesOf } from "../embeddings/vectors.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { ScoreList } from "../score-list.tsx";
import { useRun } from "../use-run.ts";
import { plainRerank, type Ranking, type RerankDraft, rerank, rerankBody } from "./ranking.ts";

const sample = {
  query: t("playground.whereDoShipsGo"),
  documents: [t("playground.aHarbourSheltersShips"), t("playground.anInvoiceForPaper")],
};

/** Puts documents into the order in which they answer a question. */
export function RerankPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useKept<RerankDraft>(t("playground.rerankDraft"), plainRerank);
  const run = useRun<Ranking>(t("playground.rankingOf", { workspace: call.workspace }));
  const set = (change: Partial<RerankDraft>) => setDraft((before) => ({ ...before, ...change }));
  const documents = linesOf(draft.documents);
  const ready = draft.query.trim() !== "" && documents.length > 0;
  const errorOf = (param: string) => (run.problem?.param === param ? run.problem.message : null);
  const body = () =>
    ready
      ? rerankBody(model, draft.query, documents, draft.top)
      : rerankBody(model, sample.query, sample.documents, draft.top);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.rerank")}
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
              label={t("playground.query")}
              placeholder={sample.query}
              required
              value={draft.query}
              error={errorOf("query")}
              onChange={(event) => set({ query: event.currentTarget.value })}
            />
            <Textarea
              label={t("playground.documents")}
              description={t("playground.oneOnEachLine")}
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
              label={t("playground.returnAtMost")}
              placeholder={t("playground.allOfThem")}
              min={1}
              allowDecimal={false}
              value={draft.top ?? ""}
              error={errorOf("top_n")}
              onChange={(next) => set({ top: typeof next === "number" ? next : null })}
            />
            <RunButton run={run} disabled={!ready}>
              {t("playground.rerank")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.ranking")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          icon={<IconSortDescending />}
          title={t("playground.noRankingYet")}
          hint={t("playground.writeAQuestionAndSome")}
        >
          {run.result?.ranked.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t("playground.theAnswerHoldsNoScores")}
            </Text>
          ) : (
            <ScoreList
              label={t("playground.ranking")}
              rows={(run.result?.ranked ?? []).map(({ document, place, score }) => ({
                id: String(place),
                name: document,
                note: t("playground.document", { place }),
                score,
              }))}
            />
          )}
        </RunOutcome>
      </Section>
    </div>
  );
}
