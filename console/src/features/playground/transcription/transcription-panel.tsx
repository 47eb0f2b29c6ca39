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
  json: "Text",
  text: "Plain text",
  srt: "Subtitles (SRT)",
  vtt: "Subtitles (WebVTT)",
  verbose_json: "JSON with times",
};

/** Turns a sound into text, in its own language or in English. */
export function TranscriptionPanel({ call, model, endpoints }: ModelPanelProps) {
  const [draft, setDraft] = useKept<TranscriptionDraft>(`sound to write of ${call.workspace}`, plainTranscription);
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const run = useRun<Transcript>(`transcript of ${call.workspace}`);
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
        title={translate ? "Translate a recording" : "Transcribe a recording"}
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
                      Choose a file
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
                  An audio file of 25 MB at most.
                </Text>
              ) : (
                <SoundPlayer sound={file} name={file.name} note={formatBytes(file.size)} />
              )}
            </div>
            {only === null && (
              <SegmentedControl
                aria-label="Language of the text"
                data={[
                  { value: "as spoken", label: "As spoken" },
                  { value: "english", label: "In English" },
                ]}
                value={translate ? "english" : "as spoken"}
                onChange={(value) => set({ translate: value === "english" })}
              />
            )}
            <Group grow gap="xs" align="flex-start">
              <Select
                label="Format"
                data={transcriptFormats.map((value) => ({ value, label: formatWords[value] }))}
                value={draft.format}
                error={errorOf("response_format")}
                allowDeselect={false}
                onChange={(format) => format !== null && set({ format: format as TranscriptFormat })}
              />
              {!translate && (
                <TextInput
                  label="Language"
                  placeholder="found by itself"
                  maxLength={16}
                  value={draft.language}
                  error={errorOf("language")}
                  onChange={(event) => set({ language: event.currentTarget.value })}
                />
              )}
            </Group>
            <Textarea
              label="Prompt"
              description="Names and words that come up, spelled as they should be."
              autosize
              minRows={1}
              maxRows={6}
              value={draft.prompt}
              error={errorOf("prompt")}
              onChange={(event) => set({ prompt: event.currentTarget.value })}
            />
            {streams({ ...asked, stream: true }) && (
              <Checkbox
                label="Stream the text as it is heard"
                checked={draft.stream}
                onChange={(event) => set({ stream: event.currentTarget.checked })}
              />
            )}
            <RunButton run={run} disabled={file === null}>
              {translate ? "Translate" : "Transcribe"}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title="Text">
        <RunOutcome
          run={run}
          workspace={call.workspace}
          icon={<IconWaveSine />}
          title="No text yet"
          hint="Choose a file or record something: what was said stands here."
        >
          {run.result !== null && <CodeBlock code={run.result.text} label="transcript" wrap />}
        </RunOutcome>
      </Section>
    </div>
  );
}

/** A name that a command line takes as it is. */
function plainSoundName({ name }: File): string {
  return /^[\w.-]+$/.test(name) ? name : `recording.${/\.(\w+)$/.exec(name)?.[1] ?? "wav"}`;
}
