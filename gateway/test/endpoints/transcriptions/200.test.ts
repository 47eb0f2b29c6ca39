import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { sound } from "./endpoint.ts";

let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  const deployments = (upstream_model: string) => [{ provider: "main", upstream_model }];
  gateway = await startGateway({
    models: [
      {
        name: "by-second",
        type: "transcription",
        deployments: deployments("whisper-1"),
        price: { audio_second: 0.0001 },
      },
      {
        name: "by-token",
        type: "transcription",
        deployments: deployments("gpt-transcribe"),
        price: { audio_input: 6, output: 10 },
      },
    ],
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const file = () => toFile(sound, "a.mp3", { type: "audio/mpeg" });

test("returns a transcription to OpenAI's SDK, and charges the seconds that the upstream reports", async () => {
  const answer = await client.audio.transcriptions.create({ model: "by-second", file: await file() });
  expect(answer.text.length).toBeGreaterThan(0);
  expect((await gateway.entries())[0]).toMatchObject({
    endpoint: "transcriptions",
    usage: { audioSeconds: 2, audioInput: 0 },
    usageSource: "upstream",
    costNanoUsd: 200_000,
  });
});

test("charges the tokens that the upstream reports, with and without streaming", async () => {
  const whole = await client.audio.transcriptions.create({ model: "by-token", file: await file() });
  expect(whole.usage).toMatchObject({ type: "tokens", input_tokens: 20 });
  const [first] = await gateway.entries();
  expect(first).toMatchObject({ usage: { audioInput: 20, audioSeconds: 0 }, usageSource: "upstream" });
  const stream = await client.audio.transcriptions.create({ model: "by-token", file: await file(), stream: true });
  const types = new Set<string>();
  for await (const event of stream) types.add(event.type);
  expect([...types]).toEqual(["transcript.text.delta", "transcript.text.done"]);
  expect((await gateway.entries())[0]).toMatchObject({
    stream: true,
    usage: { audioInput: 20, output: first?.usage.output ?? -1 },
    usageSource: "upstream",
    costNanoUsd: first?.costNanoUsd ?? -1,
  });
});

test.each([
  ["verbose_json", 2, "upstream"],
  ["srt", 2, "upstream"],
  ["vtt", 2, "upstream"],
  // The answer contains no duration, so 32,000 bytes are estimated as eight seconds.
  ["text", 8, "estimated"],
] as const)("returns an answer as %s unchanged and charges it", async (response_format, audioSeconds, usageSource) => {
  const answer = await client.audio.transcriptions.create({ model: "by-second", file: await file(), response_format });
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.reply_text ?? "";
  expect(sent.length).toBeGreaterThan(0);
  expect<unknown>(answer).toEqual(response_format === "verbose_json" ? JSON.parse(sent) : sent);
  expect((await gateway.entries())[0]).toMatchObject({ usage: { audioSeconds }, usageSource });
});

test("replaces only the model in a form, and reserves a WAV file by its duration", async () => {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt32LE(16_000, 28);
  const wave = Buffer.concat([head, Buffer.alloc(47_956)]);
  await client.audio.transcriptions.create({
    model: "by-second",
    file: await toFile(wave, "a.wav", { type: "audio/wav" }),
    response_format: "text",
    prompt: "names",
    timestamp_granularities: ["word", "segment"],
  });
  const parts = gateway.simulator.simulator.truth.list().data.at(-1)?.parts ?? [];
  expect(parts.find(({ name }) => name === "model")?.value).toBe("whisper-1");
  expect(parts.find(({ name }) => name === "file")).toMatchObject({
    filename: "a.wav",
    sha256: new Bun.CryptoHasher("sha256").update(wave).digest("hex"),
  });
  expect((await gateway.entries())[0]).toMatchObject({ usage: { audioSeconds: 3 }, usageSource: "estimated" });
});

test("ends a cut stream with an error, and records the usage so far", async () => {
  const form = new FormData();
  form.append("file", sound, "a.mp3");
  form.append("model", "by-token");
  form.append("stream", "true");
  const headers = {
    authorization: `Bearer ${aliceKey}`,
    "x-sim-script": JSON.stringify({ tokens: 9, cut_after_events: 3, event_ms: 100 }),
  };
  const answer = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
  const text = await answer.text();
  expect(text).toContain('"code":"upstream_truncated"');
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", usageSource: "estimated" });
  // Events that arrive together with the break may be lost. The entry must count the ones that the caller received.
  const deltasReceived = text.split('"transcript.text.delta"').length - 1;
  expect(entry?.usage.output).toBe(deltasReceived);
  expect(deltasReceived).toBeWithin(1, 4);
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
});
