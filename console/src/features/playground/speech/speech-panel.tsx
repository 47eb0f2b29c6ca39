import { Autocomplete, Group, Select, Stack, Text, Textarea } from "@mantine/core";
import { IconVolume } from "@tabler/icons-react";
import { formatBytes } from "../../../client/format.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { useKept } from "../../media/kept.ts";
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

/** Has a text spoken. */
export function SpeechPanel({ call, model }: ModelPanelProps) {
  const [draft, setDraft] = useKept<SpeechDraft>(t("playground.speechDraft"), plainSpeech);
  const run = useRun<Spoken>(t("playground.speechOf", { workspace: call.workspace }));
  const set = (change: Partial<SpeechDraft>) => setDraft((before) => ({ ...before, ...change }));
  const ready = draft.text.trim() !== "" && draft.voice.trim() !== "";
  const errorOf = (param: string) => (run.problem?.param === param ? run.problem.message : null);
  const body = () => speechBody(model, draft.text.trim() === "" ? { ...draft, text: "A lighthouse at dawn." } : draft);
  return (
    <div className="play-grid play-grid-form">
      <Section
        title={t("playground.speak")}
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
              label={t("playground.text")}
              placeholder={t("playground.aLighthouseAtDawn2")}
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
                label={t("playground.voice")}
                data={voices}
                required
                value={draft.voice}
                error={errorOf("voice")}
                onChange={(voice) => set({ voice })}
              />
              <Select
                label={t("playground.format")}
                data={[...soundFormats]}
                value={draft.format}
                error={errorOf("response_format")}
                allowDeselect={false}
                onChange={(format) => format !== null && set({ format: format as SoundFormat })}
              />
            </Group>
            <Textarea
              label={t("playground.instructions")}
              description={t("playground.howToSayItFor")}
              placeholder={t("playground.speakSlowlyAsIfTelling")}
              autosize
              minRows={1}
              maxRows={6}
              value={draft.instructions}
              error={errorOf("instructions")}
              onChange={(event) => set({ instructions: event.currentTarget.value })}
            />
            <RunButton run={run} disabled={!ready}>
              {t("playground.speak")}
            </RunButton>
          </Stack>
        </form>
      </Section>
      <Section title={t("playground.audio")}>
        <RunOutcome
          run={run}
          workspace={call.workspace}
          icon={<IconVolume />}
          title={t("playground.noAudioYet")}
          hint={t("playground.writeWhatShouldBeSaid")}
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
      {t("playground.soFar", { bytes: formatBytes(bytes) })}
    </Text>
  );
}
