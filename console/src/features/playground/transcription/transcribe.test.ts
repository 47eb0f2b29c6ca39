import { expect, test } from "bun:test";
import type { KeyCall } from "../../media/key-call.ts";
import {
  plainTranscription,
  readWhole,
  soundProblem,
  type Transcript,
  transcribe,
  transcriptionFields,
} from "./transcribe.ts";

const file = new File(["sound"], "note.wav", { type: "audio/wav" });

async function asked(answer: Response) {
  const sent: FormData[] = [];
  const call: KeyCall = {
    workspace: "w",
    key: "k",
    send: async (_path, { body }) => {
      sent.push(body as FormData);
      return answer;
    },
  };
  const seen: Transcript[] = [];
  const fields = transcriptionFields("m", plainTranscription);
  const whole = await transcribe(
    call,
    { path: "/v1/audio/transcriptions", file, fields },
    { signal: new AbortController().signal, show: (part) => seen.push(part) },
  );
  return { form: sent[0], seen, whole };
}

test("a stream grows word by word, and its last event has the whole text", async () => {
  const events = [
    { type: "transcript.text.delta", delta: "Hel" },
    { type: "transcript.text.delta", delta: "lo" },
    { type: "transcript.text.done", text: "Hello." },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const { form, seen, whole } = await asked(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  expect(seen.map(({ text }) => text)).toEqual(["Hel", "Hello", "Hello."]);
  expect(whole).toMatchObject({ text: "Hello.", fileName: "note.wav" });
  expect([form?.get("model"), form?.get("stream"), form?.get("file") instanceof File]).toEqual(["m", "true", true]);
});

test("a complete response is accepted even if a stream was requested", async () => {
  expect((await asked(Response.json({ text: "Hello." }))).whole.text).toBe("Hello.");
});

test("subtitles are shown unchanged, and words with timestamps as JSON", () => {
  expect(readWhole("WEBVTT\n\n00:00", null)).toBe("WEBVTT\n\n00:00");
  expect(readWhole('{"text":"a","segments":[]}', null)).toContain('"segments"');
  expect(() => readWhole('{"error":{"message":"no"}}', null)).toThrow("no");
  expect(() => readWhole("{}", null)).toThrow("The response contains no text.");
});

test("a translation has no language and does not stream; a file that is too large is refused here", () => {
  const translated = transcriptionFields("m", { ...plainTranscription, translate: true, language: "de" });
  expect(Object.keys(translated)).toEqual(["model", "response_format"]);
  expect(transcriptionFields("m", { ...plainTranscription, format: "srt" })["stream"]).toBeUndefined();
  expect(soundProblem({ name: "a.wav", size: 26_000_000 })).toContain("the maximum is 25.0 MB");
  expect(soundProblem({ name: "a.wav", size: 0 })).toContain("empty");
});
