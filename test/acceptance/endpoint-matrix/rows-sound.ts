import { expect } from "bun:test";
import type { TruthRecord } from "@sluice/simulator";
import { toFile } from "openai";
import type { Clients } from "./clients.ts";
import type { Call, Row } from "./row.ts";

const both = ["latest", "previous"] as const;

/** Counts as two seconds in the simulator. Not a WAV file, so its duration is derived from its size. */
const sound = () => toFile(new Uint8Array(32_000).fill(7), "a.mp3", { type: "audio/mpeg" });

/** Only models that bill by the second produce subtitles; only the others stream. */
function bySecond(upstreamModel: string): boolean {
  return upstreamModel.includes("whisper");
}

type AudioEndpoint = "transcriptions" | "translations";
type Format = "json" | "text" | "verbose_json" | "srt" | "vtt";

/** The result of the client: an object, or the text itself. */
async function transcribe(
  { openai }: Clients,
  endpoint: AudioEndpoint,
  model: string,
  response_format: Format,
): Promise<unknown> {
  const request = { model, file: await sound(), response_format };
  if (endpoint === "transcriptions") return openai.audio.transcriptions.create(request);
  return openai.audio.translations.create(request);
}

/** Billed by the second for models named whisper, else by audio tokens. */
function audioUsage({ model, prompt_tokens, output_tokens_emitted }: TruthRecord) {
  if (model.includes("whisper")) return { audio_seconds: 2 };
  return { audio_input: prompt_tokens, output: output_tokens_emitted };
}

function calls(endpoint: AudioEndpoint): readonly Call[] {
  return [
    {
      name: "json",
      async run(clients, model) {
        const { text } = (await transcribe(clients, endpoint, model, "json")) as { readonly text: string };
        expect(text.length).toBeGreaterThan(5);
      },
      expectedUsage: audioUsage,
    },
    {
      name: "text, which does not report the duration",
      async run(clients, model) {
        const text = await transcribe(clients, endpoint, model, "text");
        expect(String(text).length).toBeGreaterThan(5);
      },
      expectedUsage: () => null,
    },
    {
      name: "verbose_json",
      fits: bySecond,
      async run(clients, model) {
        const answer = await transcribe(clients, endpoint, model, "verbose_json");
        expect(answer).toMatchObject({ duration: 2, segments: [{ start: 0, end: 2 }] });
      },
      expectedUsage: audioUsage,
    },
    ...(["srt", "vtt"] as const).map(
      (format): Call => ({
        name: format,
        fits: bySecond,
        async run(clients, model) {
          expect(String(await transcribe(clients, endpoint, model, format))).toMatch(/--> 00:00:02[.,]000/);
        },
        expectedUsage: () => ({ audio_seconds: 2 }),
      }),
    ),
  ];
}

const transcriptions: Row = {
  endpoint: "transcriptions",
  client: "openai",
  versions: both,
  calls: [
    ...calls("transcriptions"),
    {
      name: "stream",
      fits: (upstreamModel) => !bySecond(upstreamModel),
      async run({ openai }, model) {
        const stream = await openai.audio.transcriptions.create({ model, file: await sound(), stream: true });
        let [pieces, whole] = ["", ""];
        for await (const event of stream) {
          if (event.type === "transcript.text.delta") pieces += event.delta;
          if (event.type === "transcript.text.done") whole = event.text;
        }
        expect(whole.length).toBeGreaterThan(5);
        expect(pieces).toBe(whole);
      },
      expectedUsage: audioUsage,
    },
  ],
};

const translations: Row = {
  endpoint: "translations",
  client: "openai",
  versions: both,
  calls: calls("translations"),
};

const input = "héllo 🎉 there";
/** No upstream reports characters; they are counted in the request. */
const spoken = { characters: 13, cost_nano_usd: 195_000 };
const bytes = 3 * 4_000;

const speech: Row = {
  endpoint: "speech",
  client: "openai",
  versions: both,
  calls: [
    {
      name: "audio",
      async run({ openai }, model) {
        const answer = await openai.audio.speech.create({ model, input, voice: "alloy", response_format: "mp3" });
        expect(answer.headers.get("content-type")).toBe("audio/mpeg");
        expect((await answer.arrayBuffer()).byteLength).toBe(bytes);
      },
      estimatedUsage: spoken,
      expectedUsage: () => null,
    },
    {
      name: "event stream",
      async run({ openai }, model) {
        const answer = await openai.audio.speech.create({ model, input, voice: "alloy", stream_format: "sse" });
        expect(answer.headers.get("content-type")).toContain("text/event-stream");
        const events = [...(await answer.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
        const sounds = events.filter(({ type }) => type === "speech.audio.delta");
        expect(Buffer.concat(sounds.map(({ audio }) => Buffer.from(audio, "base64"))).length).toBe(bytes);
        expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { input_tokens: 3 } });
      },
      estimatedUsage: spoken,
      expectedUsage: () => null,
    },
  ],
};

export const soundRows: readonly Row[] = [transcriptions, translations, speech];
