import { afterAll, beforeAll, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { embeddingGateway } from "../embeddings/embedding-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(embeddingGateway);
});
afterAll(() => gateway.stop());

const lastUpstream = () => {
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  return { path: received?.path ?? "", body: received?.body_text ?? "" };
};
const content = { parts: [{ text: "one two three" }] };
const call = (model: string, verb: string, body: unknown, script = {}) =>
  gateway.post(`/v1beta/models/embed/${model}:${verb}`, body, {
    key: null,
    headers: { "x-goog-api-key": aliceKey },
    script,
  });

test("passes the body with only the model changed, and charges the tokens", async () => {
  const body = `{"model" : "models/embed/gemini","content":${JSON.stringify(content)},"unknownMember":{"x":1}}`;
  const response = await call("gemini", "embedContent", body);
  expect(((await response.json()) as { embedding: { values: number[] } }).embedding.values).toHaveLength(8);
  expect(lastUpstream()).toEqual({
    path: "/v1/models/gemini-embedding-001:embedContent",
    body: body.replace("models/embed/gemini", "models/gemini-embedding-001"),
  });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "embed-content", usage: { inputUncached: 3 }, costNanoUsd: 3_000 });
});

test("changes the model in every request of a batch", async () => {
  const requestFor = (text: string) => `{"content":{"parts":[{"text":"${text}"}]}, "model":"models/embed/gemini"}`;
  const body = `{"requests":[${requestFor("one two")},${requestFor("three")}],"x":[]}`;
  const response = await call("gemini", "batchEmbedContents", body);
  expect(((await response.json()) as { embeddings: unknown[] }).embeddings).toHaveLength(2);
  expect(lastUpstream().body).toBe(body.replaceAll("models/embed/gemini", "models/gemini-embedding-001"));
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "batch-embed-contents", usage: { inputUncached: 3 }, costNanoUsd: 3_000 });
});

test.each(["openai", "vertex", "vertex-single", "vertex-content", "titan", "cohere", "gemini"])(
  "returns a vector of %s to Google's SDK",
  async (model) => {
    const client = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
    const config = { outputDimensionality: 4, taskType: "RETRIEVAL_QUERY" };
    const embedded = await client.models.embedContent({ model: `embed/${model}`, contents: "one two three", config });
    expect(embedded.embeddings?.map(({ values }) => values?.length)).toEqual([4]);
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ outcome: "succeeded", usage: { inputUncached: 3 }, costNanoUsd: 3_000 });
  },
);

test("translates texts, titles and task types for Google Cloud", async () => {
  const requested = { taskType: "RETRIEVAL_DOCUMENT", autoTruncate: false, outputDimensionality: 4 };
  const requests = ["one", "two"].map((text) => ({
    ...requested,
    title: `On ${text}`,
    content: { parts: [{ text }] },
  }));
  const response = await call("vertex", "batchEmbedContents", { requests });
  expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(JSON.parse(lastUpstream().body)).toEqual({
    instances: ["one", "two"].map((text) => ({ content: text, task_type: "RETRIEVAL_DOCUMENT", title: `On ${text}` })),
    parameters: { outputDimensionality: 4, autoTruncate: false },
  });
  expect(await response.json()).toMatchObject({ usageMetadata: { promptTokenCount: 2 } });
});

test("estimates the cost of an answer without usage", async () => {
  const response = await call("gemini", "embedContent", { content }, { no_usage: true });
  expect(response.status).toBe(200);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ usageSource: "estimated" });
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
});
