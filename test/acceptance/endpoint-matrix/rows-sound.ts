import { expect } from "bun:test";
import type { TruthRecord } from "@sluice/simulator";
import { toFile } from "openai";
import type { Clients } from "./clients.ts";
import type { Call, Row } from "./row.ts";

const both = ["latest", "previous"] as const;

/** Two seconds, as the simulator counts them. No WAV, so that its length goes by its size. */
const sound = () => toFile(new Uint8Array(32_000).fill(7), "a.mp3", { type: "audio/mpeg" });

/** Subtitles are made by models that are paid by the second, events by the others. */
function bySecond(upstreamModel: string): boolean {
  return upstreamModel.includes("whisper");
}

type Asked = "transcriptions" | "translations";
type Format = "json" | "text" | "verbose_json" | "srt" | "vtt";

/** What the client gives back: an object, or the text itself. */
async function heard({ openai }: Clients, endpoint: Asked, model: string, response_format: Format): Promise<unknown> {
  const asked = { model, file: await sound(), response_format };
  if (endpoint === "transcriptions") return openai.audio.transcriptions.create(asked);
  return openai.audio.translations.create(asked);
}

/** By the second where the upstream does so (its models are called whisper), else by tokens of the sound. */
function listened({ model, prompt_tokens, output_tokens_emitted }: TruthRecord) {
  if (model.includes("whisper")) return { audio_seconds: 2 };
  return { audio_input: prompt_tokens, output: output_tokens_emitted };
}

function calls(endpoint: Asked): readonly Call[] {
  return [
    {
      name: "json",
      async run(clients, model) {
        const { text } = (await heard(clients, endpoint, model, "json")) as { readonly text: string };
        expect(text.length).toBeGreaterThan(5);
      },
      used: listened,
    },
    {
      name: "text, which tells nothing of its length",
      async run(clients, model) {
        const text = await heard(clients, endpoint, model, "text");
        expect(String(text).length).toBeGreaterThan(5);
      },
      used: () => null,
    },
    {
      name: "verbose_json",
      fits: bySecond,
      async run(clients, model) {
        const told = await heard(clients, endpoint, model, "verbose_json");
        expect(told).toMatchObject({ duration: 2, segments: [{ start: 0, end: 2 }] });
      },
      used: listened,
    },
    ...(["srt", "vtt"] as const).map(
      (format): Call => ({
        name: format,
        fits: bySecond,
        async run(clients, model) {
          expect(String(await heard(clients, endpoint, model, format))).toMatch(/--> 00:00:02[.,]000/);
        },
        used: () => ({ audio_seconds: 2 }),
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
      name: "streamed",
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
      used: listened,
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
/** No upstream tells them; what was asked to be spoken does. */
const spoken = { characters: 13, cost_nano_usd: 195_000 };
const bytes = 3 * 4_000;

const speech: Row = {
  endpoint: "speech",
  client: "openai",
  versions: both,
  calls: [
    {
      name: "the sound itself",
      async run({ openai }, model) {
        const made = await openai.audio.speech.create({ model, input, voice: "alloy", response_format: "mp3" });
        expect(made.headers.get("content-type")).toBe("audio/mpeg");
        expect((await made.arrayBuffer()).byteLength).toBe(bytes);
      },
      guessed: spoken,
      used: () => null,
    },
    {
      name: "as events",
      async run({ openai }, model) {
        const made = await openai.audio.speech.create({ model, input, voice: "alloy", stream_format: "sse" });
        expect(made.headers.get("content-type")).toContain("text/event-stream");
        const events = [...(await made.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
        const sounds = events.filter(({ type }) => type === "speech.audio.delta");
        expect(Buffer.concat(sounds.map(({ audio }) => Buffer.from(audio, "base64"))).length).toBe(bytes);
        expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { input_tokens: 3 } });
      },
      guessed: spoken,
      used: () => null,
    },
  ],
};

export const soundRows: readonly Row[] = [transcriptions, translations, speech];
