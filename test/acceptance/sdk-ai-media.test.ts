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

/** Everything except text generation with Vercel's AI SDK: embeddings, media, reranking, errors and aborts. */
function configure(simulatorUrl: string): ConfigFile {
  const account = { base_url: simulatorUrl, api_key: "sk-account-0123456789", allow_private_network: true };
  const origin = new URL(simulatorUrl).origin;
  const base = testConfig(simulatorUrl);
  return {
    ...base,
    providers: [
      ...(base.providers ?? []),
      { ...account, id: "openai", kind: "openai" },
      { ...account, id: "google", kind: "gemini", base_url: `${origin}/v1beta` },
      { ...account, id: "cohere", kind: "cohere", base_url: `${origin}/compatibility/v1` },
    ],
    models: [
      ...(base.models ?? []),
      model("acme/embedding", [{ provider: "openai", upstream_model: "text-embedding-3-small" }], {
        type: "embedding",
      }),
      model("acme/gemini-embedding", [{ provider: "google", upstream_model: "gemini-embedding" }], {
        type: "embedding",
      }),
      model("acme/image", [{ provider: "openai", upstream_model: "gpt-image-1" }], { type: "image" }),
      model("acme/gemini-image", [{ provider: "google", upstream_model: "gemini-image" }], { type: "image" }),
      model("acme/gemini-chat", [{ provider: "google", upstream_model: "gemini-3-sim" }]),
      model("acme/speech", [{ provider: "openai", upstream_model: "tts-1" }], { type: "speech" }),
      model("acme/transcription", [{ provider: "openai", upstream_model: "whisper-1" }], { type: "transcription" }),
      model("acme/rerank", [{ provider: "cohere", upstream_model: "rerank-v3.5" }], { type: "rerank" }),
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

test.each(["acme/embedding", "acme/gemini-embedding"])("creates embeddings with OpenAI's API: %s", async (name) => {
  for (const model of [openai.embedding(name), compatible.embeddingModel(name)]) {
    const single = await embed({ model, value: "sunny day at the beach", maxRetries: 0 });
    expect(single.embedding.length).toBeGreaterThan(1);
    expect(single.usage.tokens).toBeGreaterThan(0);
    const many = await embedMany({ model, values: ["a", "b c", "sunny day at the beach"], maxRetries: 0 });
    expect(many.embeddings.length).toBe(3);
    expect(many.embeddings[2]).toEqual(single.embedding);
  }
});

test.each(["acme/embedding", "acme/gemini-embedding"])("creates embeddings with Google's API: %s", async (name) => {
  const model = google.embedding(name);
  const single = await embed({ model, value: "sunny day at the beach", maxRetries: 0 });
  const many = await embedMany({ model, values: ["a", "sunny day at the beach"], maxRetries: 0 });
  expect(single.embedding.length).toBeGreaterThan(1);
  expect(many.embeddings[1]).toEqual(single.embedding);
});

test.each(["acme/image", "acme/gemini-image"])("generates and edits images: %s", async (name) => {
  const generate = async (model: ImageModel, prompt: GenerateImagePrompt): Promise<Uint8Array> => {
    const { images } = await generateImage({ model, prompt, size: "1024x1024", maxRetries: 0 });
    expect(images.length).toBe(1);
    const image = images[0]?.uint8Array ?? new Uint8Array();
    expect(Buffer.from(image).subarray(1, 4).toString()).toBe("PNG");
    return image;
  };
  await generate(compatible.imageModel(name), "a boat");
  const boat = await generate(openai.image(name), "a boat");
  await generate(openai.image(name), { text: "a red boat", images: [boat] });
});

test("generates speech and transcribes it", async () => {
  const { audio } = await generateSpeech({
    model: openai.speech("acme/speech"),
    text: "a lighthouse at dawn",
    voice: "alloy",
    outputFormat: "wav",
    maxRetries: 0,
  });
  expect(audio.uint8Array.length).toBe(16_000);
  const result = await transcribe({
    model: openai.transcription("acme/transcription"),
    audio: audio.uint8Array,
    maxRetries: 0,
  });
  expect(result.text.length).toBeGreaterThan(0);
  expect(result.durationInSeconds).toBeGreaterThan(0);
});

test("reranks documents with Cohere's package", async () => {
  const documents = ["a hill", "ships go to a harbor", "a lighthouse"];
  const { ranking, rerankedDocuments } = await rerank({
    model: cohere.reranking("acme/rerank"),
    query: "where do ships go",
    documents,
    topN: 2,
    maxRetries: 0,
  });
  expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([1, 0]);
  expect(rerankedDocuments[0]).toBe("ships go to a harbor");
});

test("Google's package accepts a model name with a slash", async () => {
  const prompt = 'hi [[sim {"tokens":2}]]';
  expect((await generateText({ model: google("acme/gemini-chat"), prompt, maxRetries: 0 })).text).toBe(" the quick");
  const streamed = streamText({ model: google("acme/gemini-chat"), prompt, maxRetries: 0 });
  expect(await streamed.text).toBe(" the quick");
});

test("a refusal has its status, its headers and the gateway's message", async () => {
  const errorOf = async (call: Promise<unknown>): Promise<APICallError> => {
    const thrown = await call.catch((reason: unknown) => reason);
    if (APICallError.isInstance(thrown)) return thrown;
    throw new Error(`not the SDK's own error: ${String(thrown)}`);
  };
  const unauthorized = createOpenAI({ baseURL: `${setup.gateway.url}/v1`, apiKey: "sk-unknown-key-of-the-tests-0001" });
  const prompt = "hi";
  expect(await errorOf(generateText({ model: unauthorized.chat("gpt-test"), prompt, maxRetries: 0 }))).toMatchObject({
    statusCode: 401,
    isRetryable: false,
  });
  for (const model of [openai("missing"), openai.chat("missing"), google("missing"), google("acme/missing")]) {
    const error = await errorOf(generateText({ model, prompt, maxRetries: 0 }));
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
    expect(error.message).toContain("missing");
    expect(error.responseHeaders?.["x-request-id"]).toMatch(/^req_/);
  }
  const embedding = await errorOf(embed({ model: openai.embedding("missing"), value: "x", maxRetries: 0 }));
  expect(embedding.statusCode).toBe(404);
});

test("an abort by the caller stops the upstream", async () => {
  await setup.simulator.clear();
  const abort = new AbortController();
  const { fullStream } = streamText({
    model: openai.chat("gpt-test"),
    prompt: 'x [[sim {"tokens":200000,"event_ms":5}]]',
    abortSignal: abort.signal,
    maxRetries: 0,
  });
  const kinds: string[] = [];
  for await (const part of fullStream) {
    kinds.push(part.type);
    if (part.type === "text-delta") abort.abort();
  }
  expect(kinds.at(-1)).toBe("abort");
  const record = await until(async () => {
    const { data } = await setup.simulator.truth();
    return data[0]?.aborted_at ? data[0] : null;
  });
  expect(record.terminal_sent).toBe(false);
});
