import { Stack } from "@mantine/core";
import { IconWaveSine } from "@tabler/icons-react";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { fieldProblems } from "../../media/field-problems.ts";
import { useTabState } from "../../media/tab-state.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { useRun } from "../use-run.ts";
import {
  plainTranscription,
  type Transcript,
  type TranscriptionDraft,
  transcribe,
  transcriptionFields,
  transcriptionsPath,
  translationsPath,
} from "./transcribe.ts";
import { TranscriptionForm } from "./transcription-form.tsx";

const shownFields = ["file", "response_format", "language", "prompt"];

/** Transcribes audio in its language, or translates it into English. */
export function TranscriptionPanel({ call, model, endpoints }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<TranscriptionDraft>(
    `playground.transcription.draft:${call.workspace}`,
    plainTranscription,
  );
  const run = useRun<Transcript>(`playground.transcription:${call.workspace}`);
  const both = endpoints.includes(transcriptionsPath) && endpoints.includes(translationsPath);
  const translate = both ? draft.translate : !endpoints.includes(transcriptionsPath);
  const current = { ...draft, translate };
  const path = translate ? translationsPath : transcriptionsPath;
  const fields = transcriptionFields(model, current);
  const { file } = draft;
  const problems = fieldProblems(run.problem, shownFields);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={translate ? t("playground.transcription.translateTitle") : t("playground.transcription.title")}
        actions={
          <SameCallButton
            make={() => ({
              path,
              sdk: translate ? "translations" : "transcriptions",
              body: fields,
              files: [file === null ? "recording.wav" : plainSoundName(file)],
            })}
          />
        }
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (file === null) return;
            run.start((signal, show) => transcribe(call, { path, file, fields }, { signal, show }));
          }}
        >
          <Stack gap="sm">
            <TranscriptionForm
              draft={current}
              onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
              both={both}
              running={run.running}
              errorOf={problems.of}
            />
            <RunButton run={run} marked={problems.marked} disabled={file === null}>
              {translate ? t("playground.transcription.translate") : t("playground.transcription.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.form.text")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          fields={shownFields}
          icon={<IconWaveSine />}
          title={t("playground.transcription.none")}
          hint={t("playground.transcription.noneHelp")}
        >
          {run.result !== null && (
            <CodeBlock code={run.result.text} label={t("playground.transcription.transcript")} wrap />
          )}
        </RunOutcome>
      </Section>
    </div>
  );
}

/** A name that needs no quoting in a shell. */
function plainSoundName({ name }: File): string {
  return /^[\w.-]+$/.test(name) ? name : `recording.${/\.(\w+)$/.exec(name)?.[1] ?? "wav"}`;
}
