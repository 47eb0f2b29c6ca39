import { Badge, Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { IconPhotoPlus, IconShieldCheck } from "@tabler/icons-react";
import { useState } from "react";
import { FileButton } from "../../../components/file-button.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { pictureProblem, pictureTypes, readAsDataUrl } from "../../media/data-url.ts";
import { fieldProblems } from "../../media/field-problems.ts";
import { useTabState } from "../../media/tab-state.ts";
import { PictureList } from "../chat/picture-list.tsx";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { ScoreList } from "../score-list.tsx";
import { useRun } from "../use-run.ts";
import {
  categoryWords,
  type Moderated,
  type ModerationDraft,
  moderate,
  moderationBody,
  plainModeration,
  type Verdict,
} from "./verdicts.ts";

const fields = ["input"];

/** Moderates a text or a picture. */
export function ModerationPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<ModerationDraft>("playground.moderation.draft", plainModeration);
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const run = useRun<Moderated>(`playground.moderation:${call.workspace}`);
  const set = (change: Partial<ModerationDraft>) => setDraft((before) => ({ ...before, ...change }));
  const { of: errorOf, marked } = fieldProblems(run.problem, fields);
  const ready = draft.text.trim() !== "" || draft.picture !== null;
  const addFile = async (file: File | null) => {
    if (file === null) return;
    const wrong = pictureProblem(file);
    setFileProblem(wrong);
    if (wrong === null) set({ picture: await readAsDataUrl(file) });
  };
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.moderation.title")}
        actions={
          <SameCallButton
            make={() => ({
              path: "/v1/moderations",
              sdk: "moderations",
              body: moderationBody(model, ready ? draft : { ...draft, text: t("playground.form.hello") }),
            })}
          />
        }
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) run.start((signal) => moderate(call, moderationBody(model, draft), signal));
          }}
        >
          <Stack gap="sm">
            <Textarea
              label={t("playground.form.text")}
              placeholder={t("playground.moderation.hint")}
              autosize
              minRows={4}
              maxRows={16}
              value={draft.text}
              error={errorOf("input")}
              onChange={(event) => set({ text: event.currentTarget.value })}
            />
            <div>
              <FileButton accept={pictureTypes.join(",")} onChange={addFile}>
                {(button) => (
                  <Button {...button} variant="default" leftSection={<IconPhotoPlus size={15} aria-hidden />}>
                    {t("playground.moderation.image")}
                  </Button>
                )}
              </FileButton>
              {fileProblem !== null && (
                <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
                  {fileProblem}
                </Text>
              )}
              <PictureList
                pictures={draft.picture === null ? [] : [draft.picture]}
                onRemove={() => set({ picture: null })}
              />
            </div>
            <RunButton run={run} marked={marked} disabled={!ready}>
              {t("playground.moderation.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.moderation.result")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          fields={fields}
          icon={<IconShieldCheck />}
          title={t("playground.moderation.none")}
          hint={t("playground.moderation.noneHelp")}
        >
          {run.result?.verdicts.length === 0 && (
            <Text size="sm" c="dimmed">
              {t("playground.moderation.empty")}
            </Text>
          )}
          {run.result?.verdicts.map((verdict, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they come in an order and keep it.
            <VerdictView key={at} verdict={verdict} />
          ))}
        </RunOutcome>
      </Section>
    </div>
  );
}

function VerdictView({ verdict: { flagged, categories } }: { readonly verdict: Verdict }) {
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Badge color={flagged ? "red" : "green"} variant="light">
          {flagged ? t("playground.moderation.flagged") : t("playground.moderation.clean")}
        </Badge>
      </Group>
      <ScoreList
        label={t("playground.moderation.categories")}
        rows={categories.map(({ name, flagged: bad, score }) => ({
          id: name,
          name: categoryWords(name),
          ...(bad ? { note: t("playground.moderation.flaggedCategory"), tone: "bad" as const } : {}),
          score: score ?? (bad ? 1 : 0),
        }))}
      />
    </Stack>
  );
}
