import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { embeddingGateway } from "./embedding-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(embeddingGateway);
});
afterAll(() => gateway.stop());

const arrived = () => {
  const seen = gateway.simulator.simulator.truth.list().data.at(-1);
  return { path: seen?.path ?? "", body: JSON.parse(seen?.body_text ?? "null") };
};
const google = "/v1/projects/proj/locations/global/publishers/google/models";

const asked: readonly (readonly [model: string, texts: readonly string[], path: string, body: object])[] = [
  [
    "vertex",
    ["one two", "three"],
    `${google}/text-embedding-005:predict`,
    { instances: [{ content: "one two" }, { content: "three" }], parameters: { outputDimensionality: 4 } },
  ],
  [
    "vertex-single",
    ["one two three"],
    `${google}/gemini-embedding-001:predict`,
    { instances: [{ content: "one two three" }], parameters: { outputDimensionality: 4 } },
  ],
  [
    "vertex-content",
    ["one two three"],
    `${google}/gemini-embedding-2:embedContent`,
    { content: { parts: [{ text: "one two three" }] }, outputDimensionality: 4 },
  ],
  [
    "titan",
    ["one two three"],
    "/v1/model/amazon.titan-embed-text-v2%3A0/invoke",
    { inputText: "one two three", dimensions: 4 },
  ],
  [
    "cohere",
    ["one two", "three"],
    "/v1/model/us.cohere.embed-v4%3A0/invoke",
    { texts: ["one two", "three"], input_type: "search_document", embedding_types: ["float"], output_dimension: 4 },
  ],
];

test.each(asked)(
  "OpenAI's SDK gets vectors of %s in either encoding, and the tokens are paid as input",
  async (model, texts, path, body) => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
    const vectors: unknown[] = [];
    for (const encoding_format of ["float", "base64", undefined] as const) {
      const made = await client.embeddings.create({
        model: `embed/${model}`,
        input: [...texts],
        dimensions: 4,
        ...(encoding_format === undefined ? {} : { encoding_format }),
      });
      expect(made.model).toBe(`embed/${model}`);
      expect(made.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
      expect(arrived()).toEqual({ path, body });
      vectors.push(made.data.map(({ embedding, index }) => [index, floatsOf(embedding)]));
      const [entry] = await gateway.entries();
      expect(entry).toMatchObject({
        endpoint: "embeddings",
        usage: { inputUncached: 3, output: 0 },
        usageSource: "upstream",
        costNanoUsd: 3_000,
      });
    }
    expect(vectors[1]).toEqual(vectors[0]);
    expect(vectors[2]).toEqual(vectors[0]);
  },
);

/** What was asked for as base64 stays that in the SDK's hands. */
function floatsOf(embedding: unknown): number[] {
  if (Array.isArray(embedding)) return embedding.map(Math.fround);
  const bytes = Buffer.from(String(embedding), "base64");
  return [...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)];
}

test("one text may stand alone, and what it is for is said in the upstream's words", async () => {
  for (const [model, said] of [
    ["cohere", { input_type: "search_query" }],
    ["vertex", { instances: [{ content: "hi", task_type: "RETRIEVAL_QUERY" }] }],
  ] as const) {
    for (const requested of [{ input_type: "search_query" }, { task_type: "RETRIEVAL_QUERY" }]) {
      const response = await gateway.post("/v1/embeddings", { model: `embed/${model}`, input: "hi", ...requested });
      expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, null]);
      expect(arrived().body).toMatchObject(said);
    }
  }
});

test("what cannot be carried is told", async () => {
  const response = await gateway.post("/v1/embeddings", {
    model: "embed/titan",
    input: "hi",
    input_type: "clustering",
    colour: 1,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sluice-warnings")).toMatch(/colour.*the task of the vectors/);
});

test("an upstream that counts nothing is paid by an estimate, which says so", async () => {
  for (const model of ["openai", "vertex", "titan"]) {
    const input = `[[sim {"no_usage":true}]] one two three four`;
    const response = await gateway.post("/v1/embeddings", { model: `embed/${model}`, input });
    expect(response.status).toBe(200);
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ usageSource: "estimated", usage: { inputUncached: 12 }, costNanoUsd: 12_000 });
  }
});

test("large answers are put together in a thread", async () => {
  const input = Array.from({ length: 96 }, (_, index) => `text ${index}`);
  const response = await gateway.post("/v1/embeddings", { model: "embed/cohere", input, dimensions: 1_024 });
  const made = (await response.json()) as { data: { embedding: number[]; index: number }[] };
  expect(made.data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
  expect(made.data.every(({ embedding }) => embedding.length === 1_024)).toBe(true);
});

test("the model list tells where each can be called", async () => {
  const { data } = (await (await gateway.get("/v1/models?type=embedding")).json()) as {
    data: { endpoints: string[] }[];
  };
  expect(data).toHaveLength(9);
  for (const { endpoints } of data) {
    expect(endpoints).toEqual([
      "/v1/embeddings",
      "/v1beta/models/{model}:embedContent",
      "/v1beta/models/{model}:batchEmbedContents",
    ]);
  }
});
