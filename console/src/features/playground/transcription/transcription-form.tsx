import { Checkbox, Group, SegmentedControl, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { t } from "../../../language/areas/playground.ts";
import { SoundInput } from "./sound-input.tsx";
import { streams, type TranscriptFormat, type TranscriptionDraft, transcriptFormats } from "./transcribe.ts";

const formatWords: Readonly<Record<TranscriptFormat, string>> = {
  json: t("playground.form.text"),
  text: t("playground.transcription.plainText"),
  srt: t("playground.transcription.srt"),
  vtt: t("playground.transcription.vtt"),
  verbose_json: t("playground.transcription.json"),
};

interface TranscriptionFormProps {
  readonly draft: TranscriptionDraft;
  readonly onChange: (change: Partial<TranscriptionDraft>) => void;
  /** The model both transcribes and translates. */
  readonly both: boolean;
  readonly running: boolean;
  readonly errorOf: (field: string) => string | null;
}

export function TranscriptionForm({ draft, onChange, both, running, errorOf }: TranscriptionFormProps) {
  return (
    <Stack gap="sm">
      <SoundInput file={draft.file} onFile={(file) => onChange({ file })} error={errorOf("file")} disabled={running} />
      {both && (
        <SegmentedControl
          aria-label={t("playground.transcription.into")}
          data={[
            { value: "spoken", label: t("playground.transcription.asSpoken") },
            { value: "english", label: t("playground.transcription.english") },
          ]}
          value={draft.translate ? "english" : "spoken"}
          onChange={(value) => onChange({ translate: value === "english" })}
        />
      )}
      <Group grow gap="xs" align="flex-start">
        <Select
          label={t("playground.form.format")}
          data={transcriptFormats.map((value) => ({ value, label: formatWords[value] }))}
          value={draft.format}
          error={errorOf("response_format")}
          allowDeselect={false}
          onChange={(format) => format !== null && onChange({ format: format as TranscriptFormat })}
        />
        {!draft.translate && (
          <TextInput
            label={t("playground.transcription.language")}
            placeholder={t("playground.transcription.languageAuto")}
            maxLength={16}
            value={draft.language}
            error={errorOf("language")}
            onChange={(event) => onChange({ language: event.currentTarget.value })}
          />
        )}
      </Group>
      <Textarea
        label={t("playground.form.prompt")}
        description={t("playground.transcription.promptHelp")}
        autosize
        minRows={1}
        maxRows={6}
        value={draft.prompt}
        error={errorOf("prompt")}
        onChange={(event) => onChange({ prompt: event.currentTarget.value })}
      />
      {streams({ ...draft, stream: true }) && (
        <Checkbox
          label={t("playground.transcription.stream")}
          checked={draft.stream}
          onChange={(event) => onChange({ stream: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}
