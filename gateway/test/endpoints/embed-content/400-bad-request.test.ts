import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { embeddingGateway } from "../embeddings/embedding-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(embeddingGateway);
});
afterAll(() => gateway.stop());

const content = { parts: [{ text: "hi" }] };
const picture = { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] };

test.each([
  ["invalid JSON", "gemini", "embedContent", "{"],
  ["no content", "gemini", "embedContent", {}],
  ["a model named twice", "gemini", "embedContent", '{"model":"models/a","model":"models/b","content":{}}'],
  ["no requests", "gemini", "batchEmbedContents", {}],
  ["requests that are not objects", "gemini", "batchEmbedContents", { requests: ["hi"] }],
  ["another spelling of a model", "gemini", "batchEmbedContents", { requests: [{ Model: "models/secret", content }] }],
  ["too many requests", "gemini", "batchEmbedContents", { requests: Array(2_049).fill({ content }) }],
  ["a picture for a text model", "titan", "embedContent", { content: picture }],
  ["two texts for a model that embeds one", "titan", "batchEmbedContents", { requests: [{ content }, { content }] }],
  [
    "two lengths for an upstream that accepts one",
    "vertex",
    "batchEmbedContents",
    { requests: [{ content, outputDimensionality: 4 }, { content }] },
  ],
  ["text generation with an embedding model", "titan", "generateContent", { contents: [content] }],
])("returns 400 in Google's shape for %s, without calling an upstream (%s)", async (_title, model, verb, body) => {
  const before = gateway.simulator.simulator.truth.list().total;
  const response = await gateway.post(`/v1/models/embed/${model}:${verb}`, body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});
