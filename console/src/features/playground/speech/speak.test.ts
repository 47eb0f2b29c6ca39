import { expect, test } from "bun:test";
import type { KeyCall } from "../../media/key-call.ts";
import { plainSpeech, type Spoken, speak, speechBody } from "./speak.ts";

const body = speechBody("m", { ...plainSpeech, text: " Hello " });
const answering = (answer: Response): KeyCall => ({ workspace: "w", key: "k", send: async () => answer });

test("progress is reported, and the result has the vendor's content type", async () => {
  const seen: Spoken[] = [];
  const show = (part: Spoken) => seen.push(part);
  const pieces = new ReadableStream({
    start(controller) {
      for (const size of [3, 4]) controller.enqueue(new Uint8Array(size));
      controller.close();
    },
  });
  const answer = new Response(pieces, { headers: { "content-type": "audio/mpeg", "x-request-id": "req_1" } });
  const spoken = await speak(answering(answer), body, { signal: new AbortController().signal, show });
  expect(seen.map(({ bytes, sound }) => [bytes, sound])).toEqual([
    [3, null],
    [7, null],
  ]);
  expect([spoken.sound?.size, spoken.sound?.type, spoken.info.requestId]).toEqual([7, "audio/mpeg", "req_1"]);
});

test("an answer without audio is an error", async () => {
  const spoken = speak(answering(new Response("")), body, { signal: new AbortController().signal, show: () => {} });
  expect(await spoken.catch((thrown: Error) => thrown.message)).toBe("The response contains no audio.");
});

test("instructions are only sent if they were entered", () => {
  expect(body).toEqual({ model: "m", input: "Hello", voice: "alloy", response_format: "mp3" });
  expect(speechBody("m", { ...plainSpeech, instructions: "Slowly." })).toHaveProperty("instructions", "Slowly.");
});
