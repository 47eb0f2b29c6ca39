import { Button, Group, NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { IconVector } from "@tabler/icons-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { asProblem, isAbort, type Problem } from "../../../client/problem.ts";
import { EmptyState } from "../../../components/empty-state.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { useKept } from "../../media/kept.ts";
import { type Answered, askAs, type KeyCall } from "../../media/key-call.ts";
import { CallFacts } from "../call-facts.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { VectorTable } from "./vector-table.tsx";
import { inputTokensIn, linesOf, vectorsIn } from "./vectors.ts";

interface EmbeddingDraft {
  readonly text: string;
  readonly dimensions: number | null;
}

interface Embedded {
  readonly lines: readonly string[];
  readonly answered: Answered;
}

const plainDraft: EmbeddingDraft = { text: "", dimensions: null };

/** Turns texts into vectors, and shows how near they are to the first. */
export function EmbeddingsPanel({ call, model }: { readonly call: KeyCall; readonly model: string }) {
  const [draft, setDraft] = useKept<EmbeddingDraft>(t("playground.embeddingDraft"), plainDraft);
  const [embedded, setEmbedded] = useKept<Embedded | null>(
    t("playground.embeddingOf", { workspace: call.workspace }),
    null,
  );
  const [problem, setProblem] = useState<Problem | null>(null);
  const [running, setRunning] = useState(false);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const lines = linesOf(draft.text);
  const bodyOf = (input: readonly string[]) => ({
    model,
    input: input.length === 1 ? input[0] : input,
    ...(draft.dimensions === null ? {} : { dimensions: draft.dimensions }),
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (lines.length === 0 || running) return;
    const controller = new AbortController();
    abort.current = controller;
    setRunning(true);
    setProblem(null);
    try {
      const answered = await askAs(call, "/v1/embeddings", bodyOf(lines), { signal: controller.signal });
      setEmbedded({ lines, answered });
    } catch (thrown) {
      if (!isAbort(thrown)) setProblem(asProblem(thrown));
    } finally {
      setRunning(false);
    }
  };
  const vectors = embedded === null ? [] : vectorsIn(embedded.answered.value);

  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.embed")}
        actions={
          <SameCallButton
            make={() => ({
              path: "/v1/embeddings",
              sdk: "embeddings",
              body: bodyOf(lines.length === 0 ? [t("playground.hello")] : lines),
            })}
          />
        }
      >
        <form onSubmit={submit}>
          <Stack gap="sm">
            <Textarea
              label={t("playground.texts")}
              description={t("playground.oneOnEachLineThey")}
              placeholder={t("playground.aLighthouseAtDawnThe")}
              autosize
              minRows={5}
              maxRows={16}
              required
              value={draft.text}
              error={problem?.param === "input" ? problem.message : null}
              onChange={(event) => {
                const { value } = event.currentTarget;
                setDraft((before) => ({ ...before, text: value }));
              }}
            />
            <NumberInput
              label={t("playground.dimensions")}
              placeholder={t("playground.default")}
              min={1}
              allowDecimal={false}
              value={draft.dimensions ?? ""}
              error={problem?.param === "dimensions" ? problem.message : null}
              onChange={(next) =>
                setDraft((before) => ({ ...before, dimensions: typeof next === "number" ? next : null }))
              }
            />
            <Group justify="flex-end">
              <Button type="submit" disabled={lines.length === 0} loading={running}>
                {t("playground.embed")}
              </Button>
            </Group>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.vectors")}>
        <Stack gap="sm">
          {problem !== null && <ProblemAlert problem={problem} />}
          {embedded === null && problem === null && (
            <EmptyState icon={<IconVector />} title={t("playground.noVectorYet")}>
              {t("playground.aVectorPlacesAText")}
            </EmptyState>
          )}
          {embedded !== null && (
            <>
              {vectors.length === 0 ? (
                <Text size="sm" c="dimmed">
                  {t("playground.theAnswerHoldsNoList")}
                </Text>
              ) : (
                <VectorTable lines={embedded.lines} vectors={vectors} />
              )}
              <CallFacts
                workspace={call.workspace}
                told={embedded.answered}
                totalMs={embedded.answered.totalMs}
                inputTokens={inputTokensIn(embedded.answered.value)}
              />
            </>
          )}
        </Stack>
      </Section>
    </div>
  );
}
