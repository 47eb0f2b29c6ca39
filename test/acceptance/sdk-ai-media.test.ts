import { afterAll, beforeAll, expect, test } from "bun:test";
import { createCohere } from "@ai-sdk/cohere";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ConfigFile } from "@sluice/contract";
import {
  APICallError,
  embed,
  embedMany,
  generateImage,
  generateSpeech,
  generateText,
  type ImageModel,
  rerank,
  streamText,
  transcribe,
} from "ai";
import { until } from "../until.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, model, testConfig } from "./test-config.ts";

/** What Vercel's AI SDK asks for beside words, and how it leaves. */
function configure(simulatorUrl: string): ConfigFile {
  const account = { base_url: simulatorUrl, api_key: "sk-account-0123456789", allow_private_network: true };
  const origin = new URL(simulatorUrl).origin;
  const usual = testConfig(simulatorUrl);
  return {
    ...usual,
    providers: [
      ...(usual.providers ?? []),
      { ...account, id: "openai", kind: "openai" },
      { ...account, id: "google", kind: "gemini", base_url: `${origin}/v1beta` },
      { ...account, id: "cohere", kind: "cohere", base_url: `${origin}/compatibility/v1` },
    ],
    models: [
      ...(usual.models ?? []),
      model("acme/vectors", [{ provider: "openai", upstream_model: "text-embedding-3-small" }], { type: "embedding" }),
      model("acme/gem-vectors", [{ provider: "google", upstream_model: "gemini-embedding" }], { type: "embedding" }),
      model("acme/paint", [{ provider: "openai", upstream_model: "gpt-image-1" }], { type: "image" }),
      model("acme/gem-paint", [{ provider: "google", upstream_model: "gemini-image" }], { type: "image" }),
      model("acme/gem-talk", [{ provider: "google", upstream_model: "gemini-3-sim" }]),
      model("acme/voice", [{ provider: "openai", upstream_model: "tts-1" }], { type: "speech" }),
      model("acme/ears", [{ provider: "openai", upstream_model: "whisper-1" }], { type: "transcription" }),
      model("acme/rank", [{ provider: "cohere", upstream_model: "rerank-v3.5" }], { type: "rerank" }),
    ],
  };
}

type GenerateImagePrompt = Parameters<typeof generateImage>[0]["prompt"];

let setup: TestSetup;
let openai: ReturnType<typeof createOpenAI>;
let compatible: ReturnType<typeof createOpenAICompatible>;
let google: ReturnType<typeof createGoogleGenerativeAI>;
let cohere: ReturnType<typeof createCohere>;
beforeAll(async () => {
  setup = await openSetup(configure);
  const v1 = { baseURL: `${setup.gateway.url}/v1`, apiKey: keys.main };
  openai = createOpenAI(v1);
  compatible = createOpenAICompatible({ name: "sluice", ...v1 });
  google = createGoogleGenerativeAI({ baseURL: `${setup.gateway.url}/v1beta`, apiKey: keys.main });
  cohere = createCohere(v1);
});
afterAll(() => setup?.close());

test.each(["acme/vectors", "acme/gem-vectors"])("embeddings of OpenAI's dialect, by %s", async (name) => {
  for (const of of [openai.embedding(name), compatible.embeddingModel(name)]) {
    const one = await embed({ model: of, value: "sunny day at the beach", maxRetries: 0 });
    expect(one.embedding.length).toBeGreaterThan(1);
    expect(one.usage.tokens).toBeGreaterThan(0);
    const many = await embedMany({ model: of, values: ["a", "b c", "sunny day at the beach"], maxRetries: 0 });
    expect(many.embeddings.length).toBe(3);
    expect(many.embeddings[2]).toEqual(one.embedding);
  }
});

test.each(["acme/vectors", "acme/gem-vectors"])("embeddings of Google's dialect, by %s", async (name) => {
  const of = google.embedding(name);
  const one = await embed({ model: of, value: "sunny day at the beach", maxRetries: 0 });
  const many = await embedMany({ model: of, values: ["a", "sunny day at the beach"], maxRetries: 0 });
  expect(one.embedding.length).toBeGreaterThan(1);
  expect(many.embeddings[1]).toEqual(one.embedding);
});

test.each(["acme/paint", "acme/gem-paint"])("pictures, made and edited, by %s", async (name) => {
  const make = async (of: ImageModel, prompt: GenerateImagePrompt): Promise<Uint8Array> => {
    const { images } = await generateImage({ model: of, prompt, size: "1024x1024", maxRetries: 0 });
    expect(images.length).toBe(1);
    const picture = images[0]?.uint8Array ?? new Uint8Array();
    expect(Buffer.from(picture).subarray(1, 4).toString()).toBe("PNG");
    return picture;
  };
  await make(compatible.imageModel(name), "a boat");
  const boat = await make(openai.image(name), "a boat");
  await make(openai.image(name), { text: "a red boat", images: [boat] });
});

test("a sound, and the text of a sound", async () => {
  const { audio } = await generateSpeech({
    model: openai.speech("acme/voice"),
    text: "a lighthouse at dawn",
    voice: "alloy",
    outputFormat: "wav",
    maxRetries: 0,
  });
  expect(audio.uint8Array.length).toBe(16_000);
  const heard = await transcribe({ model: openai.transcription("acme/ears"), audio: audio.uint8Array, maxRetries: 0 });
  expect(heard.text.length).toBeGreaterThan(0);
  expect(heard.durationInSeconds).toBeGreaterThan(0);
});

test("a ranking, with Cohere's package", async () => {
  const documents = ["a hill", "ships go to a harbour", "a lighthouse"];
  const { ranking, rerankedDocuments } = await rerank({
    model: cohere.reranking("acme/rank"),
    query: "where do ships go",
    documents,
    topN: 2,
    maxRetries: 0,
  });
  expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([1, 0]);
  expect(rerankedDocuments[0]).toBe("ships go to a harbour");
});

test("Google's package may name a model that has a slash", async () => {
  const prompt = 'hi [[sim {"tokens":2}]]';
  expect((await generateText({ model: google("acme/gem-talk"), prompt, maxRetries: 0 })).text).toBe(" the quick");
  const streamed = streamText({ model: google("acme/gem-talk"), prompt, maxRetries: 0 });
  expect(await streamed.text).toBe(" the quick");
});

test("a refusal has its status, its headers, and the gateway's own words", async () => {
  const refused = async (call: Promise<unknown>): Promise<APICallError> => {
    const thrown = await call.catch((reason: unknown) => reason);
    if (APICallError.isInstance(thrown)) return thrown;
    throw new Error(`not the SDK's own error: ${String(thrown)}`);
  };
  const stranger = createOpenAI({ baseURL: `${setup.gateway.url}/v1`, apiKey: "sk-nobody-knows-this-key-0001" });
  const prompt = "hi";
  expect(await refused(generateText({ model: stranger.chat("gpt-test"), prompt, maxRetries: 0 }))).toMatchObject({
    statusCode: 401,
    isRetryable: false,
  });
  for (const of of [openai("nobody"), openai.chat("nobody"), google("nobody"), google("acme/nobody")]) {
    const error = await refused(generateText({ model: of, prompt, maxRetries: 0 }));
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
    expect(error.message).toContain("nobody");
    expect(error.responseHeaders?.["x-request-id"]).toMatch(/^req_/);
  }
  const embedding = await refused(embed({ model: openai.embedding("nobody"), value: "x", maxRetries: 0 }));
  expect(embedding.statusCode).toBe(404);
});

test("a caller who leaves stops the upstream", async () => {
  await setup.simulator.clear();
  const leaving = new AbortController();
  const { fullStream } = streamText({
    model: openai.chat("gpt-test"),
    prompt: 'x [[sim {"tokens":200000,"event_ms":5}]]',
    abortSignal: leaving.signal,
    maxRetries: 0,
  });
  const kinds: string[] = [];
  for await (const part of fullStream) {
    kinds.push(part.type);
    if (part.type === "text-delta") leaving.abort();
  }
  expect(kinds.at(-1)).toBe("abort");
  const record = await until(async () => {
    const { data } = await setup.simulator.truth();
    return data[0]?.aborted_at ? data[0] : null;
  });
  expect(record.terminal_sent).toBe(false);
});
