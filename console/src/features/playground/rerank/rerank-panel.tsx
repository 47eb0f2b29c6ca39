import { NumberInput, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconSortDescending } from "@tabler/icons-react";
import { Section } from "../../../components/section.tsx";
import { useKept } from "../../media/kept.ts";
import { linesOf } from "../embeddings/vectors.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { ScoreList } from "../score-list.tsx";
import { useRun } from "../use-run.ts";
import { plainRerank, type Ranking, type RerankDraft, rerank, rerankBody } from "./ranking.ts";

const sample = { query: "Where do ships go?", documents: ["A harbour shelters ships", "An invoice for paper"] };

/** Puts documents into the order in which they answer a question. */
export function RerankPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useKept<RerankDraft>("rerank draft", plainRerank);
  const run = useRun<Ranking>(`ranking of ${call.workspace}`);
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
        title="Rerank"
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
              label="Query"
              placeholder={sample.query}
              required
              value={draft.query}
              error={errorOf("query")}
              onChange={(event) => set({ query: event.currentTarget.value })}
            />
            <Textarea
              label="Documents"
              description="One on each line."
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
              label="Return at most"
              placeholder="all of them"
              min={1}
              allowDecimal={false}
              value={draft.top ?? ""}
              error={errorOf("top_n")}
              onChange={(next) => set({ top: typeof next === "number" ? next : null })}
            />
            <RunButton run={run} disabled={!ready}>
              Rerank
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title="Ranking">
        <RunOutcome
          run={run}
          workspace={call.workspace}
          icon={<IconSortDescending />}
          title="No ranking yet"
          hint="Write a question and some documents: those that answer it best come first, each with its score."
        >
          {run.result?.ranked.length === 0 ? (
            <Text size="sm" c="dimmed">
              The answer holds no scores.
            </Text>
          ) : (
            <ScoreList
              label="Ranking"
              rows={(run.result?.ranked ?? []).map(({ document, place, score }) => ({
                id: String(place),
                name: document,
                note: `document ${place}`,
                score,
              }))}
            />
          )}
        </RunOutcome>
      </Section>
    </div>
  );
}
