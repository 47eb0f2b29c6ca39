import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";

const deployments = [{ provider: "main", upstream_model: "upstream-voice" }];
let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      { name: "by-character", type: "speech", deployments, price: { character: 15 } },
      { name: "by-token", type: "speech", deployments, price: { input: 0.6, audio_output: 12 } },
    ],
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const input = "a lighthouse at dawn";
const truth = () => gateway.simulator.simulator.truth.list().data.at(-1);
const sha256 = (bytes: ArrayBuffer) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

test.each(["mp3", "opus", "wav"] as const)(
  "OpenAI's SDK gets a sound as %s, byte for byte, paid by characters",
  async (response_format) => {
    const answer = await client.audio.speech.create({ model: "by-character", input, voice: "alloy", response_format });
    const sound = await answer.arrayBuffer();
    expect(sound.byteLength).toBe(16_000);
    expect(answer.headers.get("content-type")).toStartWith("audio/");
    expect(sha256(sound)).toBe(truth()?.reply_sha256 ?? "");
    expect(truth()?.model).toBe("upstream-voice");
    expect((await gateway.entries())[0]).toMatchObject({
      endpoint: "speech",
      outcome: "succeeded",
      usage: { characters: 20 },
      costNanoUsd: 300_000,
    });
  },
);

test("how fast is spoken goes on, and chooses nothing", async () => {
  const answer = await client.audio.speech.create({ model: "by-character", input, voice: "alloy", speed: 1.5 });
  await answer.arrayBuffer();
  expect(answer.headers.get("x-sluice-warnings")).toBeNull();
  expect(truth()?.body_text).toContain('"speed":1.5');
});

test("events tell their tokens, and those are paid", async () => {
  const answer = await gateway.post("/v1/audio/speech", {
    model: "by-token",
    input,
    voice: "alloy",
    stream_format: "sse",
  });
  expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
  const text = await answer.text();
  expect(text).toContain('"type":"speech.audio.delta"');
  expect(text).toContain('"type":"speech.audio.done"');
  expect((await gateway.entries())[0]).toMatchObject({
    stream: true,
    usage: { inputUncached: 4, audioOutput: 20 },
    usageSource: "upstream",
    costNanoUsd: 242_400,
  });
});

test("the tokens of bytes are estimated by their size, and marked so", async () => {
  const answer = await client.audio.speech.create({ model: "by-token", input, voice: "alloy" });
  await answer.arrayBuffer();
  expect((await gateway.entries())[0]).toMatchObject({ usage: { audioOutput: 20 }, usageSource: "estimated" });
});

test("a sound that breaks off is a connection that breaks, with nothing put among its bytes; it is booked", async () => {
  const answer = await gateway.post(
    "/v1/audio/speech",
    { model: "by-token", input: "word ".repeat(200), voice: "x" },
    {
      script: { cut_after_events: 1, event_ms: 20 },
    },
  );
  expect(answer.status).toBe(200);
  const pieces: Uint8Array[] = [];
  const reading = (async () => {
    for await (const piece of answer.body ?? []) pieces.push(piece);
  })();
  expect(
    await reading.then(
      () => "ended",
      () => "broke",
    ),
  ).toBe("broke");
  expect(Buffer.concat(pieces).toString("latin1")).not.toContain("error");
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_truncated", usageSource: "estimated" });
  expect(entry?.usage.audioOutput).toBeGreaterThan(100);
});

test("a caller that leaves in the middle stops the upstream, and what was spoken is booked", async () => {
  const leaving = new AbortController();
  const answer = await gateway.post(
    "/v1/audio/speech",
    { model: "by-character", input: "word ".repeat(500), voice: "x" },
    {
      script: { event_ms: 30 },
      signal: leaving.signal,
    },
  );
  await answer.body?.getReader().read();
  leaving.abort();
  const id = answer.headers.get("x-request-id");
  const found = async () => (await gateway.entries()).find(({ requestId }) => requestId === id);
  await until(async () => (await found()) !== undefined);
  const entry = await found();
  expect(entry).toMatchObject({ outcome: "cancelled", httpStatus: 499, usage: { characters: 2_500 } });
});
