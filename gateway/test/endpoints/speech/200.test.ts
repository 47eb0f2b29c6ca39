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
const lastUpstream = () => gateway.simulator.simulator.truth.list().data.at(-1);
const sha256 = (bytes: ArrayBuffer) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

test.each(["mp3", "opus", "wav"] as const)(
  "returns speech as %s byte for byte to OpenAI's SDK, and charges by characters",
  async (response_format) => {
    const answer = await client.audio.speech.create({ model: "by-character", input, voice: "alloy", response_format });
    const sound = await answer.arrayBuffer();
    expect(sound.byteLength).toBe(16_000);
    expect(answer.headers.get("content-type")).toStartWith("audio/");
    expect(sha256(sound)).toBe(lastUpstream()?.reply_sha256 ?? "");
    expect(lastUpstream()?.model).toBe("upstream-voice");
    expect((await gateway.entries())[0]).toMatchObject({
      endpoint: "speech",
      outcome: "succeeded",
      usage: { characters: 20 },
      costNanoUsd: 300_000,
    });
  },
);

test("passes the speed without a warning", async () => {
  const answer = await client.audio.speech.create({ model: "by-character", input, voice: "alloy", speed: 1.5 });
  await answer.arrayBuffer();
  expect(answer.headers.get("x-sluice-warnings")).toBeNull();
  expect(lastUpstream()?.body_text).toContain('"speed":1.5');
});

test("charges the tokens that events report", async () => {
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

test("estimates the tokens of a sound from its size, and marks them as estimated", async () => {
  const answer = await client.audio.speech.create({ model: "by-token", input, voice: "alloy" });
  await answer.arrayBuffer();
  expect((await gateway.entries())[0]).toMatchObject({ usage: { audioOutput: 20 }, usageSource: "estimated" });
});

test("breaks the connection when a sound breaks off, adds no bytes, and records the usage", async () => {
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

test("stops the upstream when the caller disconnects, and records the usage so far", async () => {
  const disconnect = new AbortController();
  const answer = await gateway.post(
    "/v1/audio/speech",
    { model: "by-character", input: "word ".repeat(500), voice: "x" },
    {
      script: { event_ms: 30 },
      signal: disconnect.signal,
    },
  );
  await answer.body?.getReader().read();
  disconnect.abort();
  const id = answer.headers.get("x-request-id");
  const findEntry = async () => (await gateway.entries()).find(({ requestId }) => requestId === id);
  await until(async () => (await findEntry()) !== undefined);
  const entry = await findEntry();
  expect(entry).toMatchObject({ outcome: "cancelled", httpStatus: 499, usage: { characters: 2_500 } });
});
