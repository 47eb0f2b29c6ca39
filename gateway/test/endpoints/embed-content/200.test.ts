import { afterAll, beforeAll, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { embeddingGateway } from "../embeddings/embedding-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(embeddingGateway);
});
afterAll(() => gateway.stop());

const arrived = () => {
  const seen = gateway.simulator.simulator.truth.list().data.at(-1);
  return { path: seen?.path ?? "", body: seen?.body_text ?? "" };
};
const content = { parts: [{ text: "one two three" }] };
const call = (model: string, verb: string, body: unknown, script = {}) =>
  gateway.post(`/v1beta/models/embed/${model}:${verb}`, body, {
    key: null,
    headers: { "x-goog-api-key": aliceKey },
    script,
  });

test("a vendor of the dialect gets the body as it is, but for the model that it names, and is paid for the tokens", async () => {
  const body = `{"model" : "models/embed/gemini","content":${JSON.stringify(content)},"unknownMember":{"x":1}}`;
  const response = await call("gemini", "embedContent", body);
  expect(((await response.json()) as { embedding: { values: number[] } }).embedding.values).toHaveLength(8);
  expect(arrived()).toEqual({
    path: "/v1/models/gemini-embedding-001:embedContent",
    body: body.replace("models/embed/gemini", "models/gemini-embedding-001"),
  });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "embed-content", usage: { inputUncached: 3 }, costNanoUsd: 3_000 });
});

test("so does a batch, each of whose requests names the model", async () => {
  const one = (text: string) => `{"content":{"parts":[{"text":"${text}"}]}, "model":"models/embed/gemini"}`;
  const body = `{"requests":[${one("one two")},${one("three")}],"x":[]}`;
  const response = await call("gemini", "batchEmbedContents", body);
  expect(((await response.json()) as { embeddings: unknown[] }).embeddings).toHaveLength(2);
  expect(arrived().body).toBe(body.replaceAll("models/embed/gemini", "models/gemini-embedding-001"));
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "batch-embed-contents", usage: { inputUncached: 3 }, costNanoUsd: 3_000 });
});

test.each(["openai", "vertex", "vertex-single", "vertex-content", "titan", "cohere", "gemini"])(
  "Google's SDK gets a vector of %s",
  async (model) => {
    const client = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
    const config = { outputDimensionality: 4, taskType: "RETRIEVAL_QUERY" };
    const made = await client.models.embedContent({ model: `embed/${model}`, contents: "one two three", config });
    expect(made.embeddings?.map(({ values }) => values?.length)).toEqual([4]);
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ outcome: "succeeded", usage: { inputUncached: 3 }, costNanoUsd: 3_000 });
  },
);

test("several texts, their titles and what they are for reach Google Cloud in its words", async () => {
  const requested = { taskType: "RETRIEVAL_DOCUMENT", autoTruncate: false, outputDimensionality: 4 };
  const requests = ["one", "two"].map((text) => ({
    ...requested,
    title: `On ${text}`,
    content: { parts: [{ text }] },
  }));
  const response = await call("vertex", "batchEmbedContents", { requests });
  expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(JSON.parse(arrived().body)).toEqual({
    instances: ["one", "two"].map((text) => ({ content: text, task_type: "RETRIEVAL_DOCUMENT", title: `On ${text}` })),
    parameters: { outputDimensionality: 4, autoTruncate: false },
  });
  expect(await response.json()).toMatchObject({ usageMetadata: { promptTokenCount: 2 } });
});

test("an answer without a count is paid by an estimate", async () => {
  const response = await call("gemini", "embedContent", { content }, { no_usage: true });
  expect(response.status).toBe(200);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ usageSource: "estimated" });
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
});
