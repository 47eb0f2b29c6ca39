import {
  Button,
  Checkbox,
  FileButton,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { IconFileMusic, IconWaveSine } from "@tabler/icons-react";
import { useState } from "react";
import { formatBytes } from "../../../client/format.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { useKept } from "../../media/kept.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { SoundPlayer } from "../sound-player.tsx";
import { useRun } from "../use-run.ts";
import { RecordButton } from "./record-button.tsx";
import {
  plainTranscription,
  soundProblem,
  soundTypes,
  streams,
  type Transcript,
  type TranscriptFormat,
  type TranscriptionDraft,
  transcribe,
  transcriptFormats,
  transcriptionFields,
  transcriptionsPath,
  translationsPath,
} from "./transcribe.ts";

const formatWords: Readonly<Record<TranscriptFormat, string>> = {
  json: t("playground.text"),
  text: "Plain text",
  srt: "Subtitles (SRT)",
  vtt: "Subtitles (WebVTT)",
  verbose_json: t("playground.jsonWithTimes"),
};

/** Turns a sound into text, in its own language or in English. */
export function TranscriptionPanel({ call, model, endpoints }: ModelPanelProps) {
  const [draft, setDraft] = useKept<TranscriptionDraft>(
    t("playground.soundToWriteOf", { workspace: call.workspace }),
    plainTranscription,
  );
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const run = useRun<Transcript>(t("playground.transcriptOf", { workspace: call.workspace }));
  const set = (change: Partial<TranscriptionDraft>) => setDraft((before) => ({ ...before, ...change }));
  const only = endpoints.includes(transcriptionsPath) ? (endpoints.includes(translationsPath) ? null : false) : true;
  const translate = only ?? draft.translate;
  const asked = { ...draft, translate };
  const path = translate ? translationsPath : transcriptionsPath;
  const fields = transcriptionFields(model, asked);
  const { file } = draft;
  const errorOf = (param: string) => (run.problem?.param === param ? run.problem.message : null);
  const give = (given: File | null) => {
    if (given === null) return;
    const wrong = soundProblem(given);
    setFileProblem(wrong);
    if (wrong === null) set({ file: given });
  };
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={translate ? t("playground.translateARecording") : t("playground.transcribeARecording")}
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
            <div>
              <Group gap="xs">
                <FileButton accept={soundTypes} onChange={give}>
                  {(button) => (
                    <Button {...button} variant="default" leftSection={<IconFileMusic size={15} aria-hidden />}>
                      {t("playground.chooseAFile")}
                    </Button>
                  )}
                </FileButton>
                <RecordButton disabled={run.running} onRecorded={give} onProblem={setFileProblem} />
              </Group>
              {fileProblem !== null && (
                <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
                  {fileProblem}
                </Text>
              )}
              {errorOf("file") !== null && (
                <Text size="xs" c="var(--mantine-color-error)" mt={4}>
                  {errorOf("file")}
                </Text>
              )}
              {file === null ? (
                <Text size="xs" c="dimmed" mt={4}>
                  {t("playground.anAudioFileOf25")}
                </Text>
              ) : (
                <SoundPlayer sound={file} name={file.name} note={formatBytes(file.size)} />
              )}
            </div>
            {only === null && (
              <SegmentedControl
                aria-label={t("playground.languageOfTheText")}
                data={[
                  { value: t("playground.asSpoken"), label: t("playground.asSpoken2") },
                  { value: "english", label: t("playground.inEnglish") },
                ]}
                value={translate ? "english" : t("playground.asSpoken")}
                onChange={(value) => set({ translate: value === "english" })}
              />
            )}
            <Group grow gap="xs" align="flex-start">
              <Select
                label={t("playground.format")}
                data={transcriptFormats.map((value) => ({ value, label: formatWords[value] }))}
                value={draft.format}
                error={errorOf("response_format")}
                allowDeselect={false}
                onChange={(format) => format !== null && set({ format: format as TranscriptFormat })}
              />
              {!translate && (
                <TextInput
                  label={t("playground.language")}
                  placeholder={t("playground.foundByItself")}
                  maxLength={16}
                  value={draft.language}
                  error={errorOf("language")}
                  onChange={(event) => set({ language: event.currentTarget.value })}
                />
              )}
            </Group>
            <Textarea
              label={t("playground.prompt")}
              description={t("playground.namesAndWordsThatCome")}
              autosize
              minRows={1}
              maxRows={6}
              value={draft.prompt}
              error={errorOf("prompt")}
              onChange={(event) => set({ prompt: event.currentTarget.value })}
            />
            {streams({ ...asked, stream: true }) && (
              <Checkbox
                label={t("playground.streamTheTextAsIt")}
                checked={draft.stream}
                onChange={(event) => set({ stream: event.currentTarget.checked })}
              />
            )}
            <RunButton run={run} disabled={file === null}>
              {translate ? t("playground.translate") : t("playground.transcribe")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.text")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          icon={<IconWaveSine />}
          title={t("playground.noTextYet")}
          hint={t("playground.chooseAFileOrRecord")}
        >
          {run.result !== null && <CodeBlock code={run.result.text} label={t("playground.transcript")} wrap />}
        </RunOutcome>
      </Section>
    </div>
  );
}

/** A name that a command line takes as it is. */
function plainSoundName({ name }: File): string {
  return /^[\w.-]+$/.test(name) ? name : `recording.${/\.(\w+)$/.exec(name)?.[1] ?? "wav"}`;
}
