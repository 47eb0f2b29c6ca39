import { Autocomplete, Group, Select, Stack, Text, Textarea } from "@mantine/core";
import { IconVolume } from "@tabler/icons-react";
import { formatBytes } from "../../../client/format.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { fieldProblems } from "../../media/field-problems.ts";
import { useTabState } from "../../media/tab-state.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { RunButton } from "../run-button.tsx";
import { RunOutcome } from "../run-outcome.tsx";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { SoundPlayer } from "../sound-player.tsx";
import { useRun } from "../use-run.ts";
import {
  plainSpeech,
  type SoundFormat,
  type SpeechDraft,
  type Spoken,
  soundFormats,
  speak,
  speechBody,
  voices,
} from "./speak.ts";

const fields = ["input", "voice", "response_format", "instructions"];

/** Turns a text into speech. */
export function SpeechPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useTabState<SpeechDraft>("playground.speech.draft", plainSpeech);
  const run = useRun<Spoken>(`playground.speech:${call.workspace}`);
  const set = (change: Partial<SpeechDraft>) => setDraft((before) => ({ ...before, ...change }));
  const ready = draft.text.trim() !== "" && draft.voice.trim() !== "";
  const { of: errorOf, marked } = fieldProblems(run.problem, fields);
  const body = () =>
    speechBody(model, draft.text.trim() === "" ? { ...draft, text: t("playground.speech.sample") } : draft);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.speech.title")}
        actions={<SameCallButton make={() => ({ path: "/v1/audio/speech", sdk: "speech", body: body() })} />}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) run.start((signal, show) => speak(call, body(), { signal, show }));
          }}
        >
          <Stack gap="sm">
            <Textarea
              label={t("playground.form.text")}
              placeholder={t("playground.speech.sample")}
              autosize
              minRows={4}
              maxRows={16}
              required
              value={draft.text}
              error={errorOf("input")}
              onChange={(event) => set({ text: event.currentTarget.value })}
            />
            <Group grow gap="xs" align="flex-start">
              <Autocomplete
                label={t("playground.speech.voice")}
                data={voices}
                required
                value={draft.voice}
                error={errorOf("voice")}
                onChange={(voice) => set({ voice })}
              />
              <Select
                label={t("playground.form.format")}
                data={[...soundFormats]}
                value={draft.format}
                error={errorOf("response_format")}
                allowDeselect={false}
                onChange={(format) => format !== null && set({ format: format as SoundFormat })}
              />
            </Group>
            <Textarea
              label={t("playground.speech.instructions")}
              description={t("playground.speech.instructionsHelp")}
              placeholder={t("playground.speech.instructionsHint")}
              autosize
              minRows={1}
              maxRows={6}
              value={draft.instructions}
              error={errorOf("instructions")}
              onChange={(event) => set({ instructions: event.currentTarget.value })}
            />
            <RunButton run={run} marked={marked} disabled={!ready}>
              {t("playground.speech.run")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.speech.audio")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          fields={fields}
          icon={<IconVolume />}
          title={t("playground.speech.none")}
          hint={t("playground.speech.noneHelp")}
        >
          {run.result !== null && <SpokenSound spoken={run.result} />}
        </RunOutcome>
      </Section>
    </div>
  );
}

function SpokenSound({ spoken: { sound, bytes, format } }: { readonly spoken: Spoken }) {
  if (sound !== null) return <SoundPlayer sound={sound} name={`speech.${format}`} note={formatBytes(bytes)} />;
  return (
    <Text size="sm" role="status">
      {t("playground.speech.received", { bytes: formatBytes(bytes) })}
    </Text>
  );
}
