import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { embeddingGateway } from "./embedding-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(embeddingGateway);
});
afterAll(() => gateway.stop());

const lastUpstream = () => {
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  return { path: received?.path ?? "", body: JSON.parse(received?.body_text ?? "null") };
};
const google = "/v1/projects/proj/locations/global/publishers/google/models";

const calls: readonly (readonly [model: string, texts: readonly string[], path: string, body: object])[] = [
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

test.each(calls)(
  "returns vectors of %s to OpenAI's SDK in either encoding, and charges the tokens as input",
  async (model, texts, path, body) => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
    const vectors: unknown[] = [];
    for (const encoding_format of ["float", "base64", undefined] as const) {
      const embedded = await client.embeddings.create({
        model: `embed/${model}`,
        input: [...texts],
        dimensions: 4,
        ...(encoding_format === undefined ? {} : { encoding_format }),
      });
      expect(embedded.model).toBe(`embed/${model}`);
      expect(embedded.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
      expect(lastUpstream()).toEqual({ path, body });
      vectors.push(embedded.data.map(({ embedding, index }) => [index, floatsOf(embedding)]));
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

/** The SDK leaves vectors as base64 when the caller asked for base64. */
function floatsOf(embedding: unknown): number[] {
  if (Array.isArray(embedding)) return embedding.map(Math.fround);
  const bytes = Buffer.from(String(embedding), "base64");
  return [...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)];
}

test("accepts a single text, and translates the task type for the upstream", async () => {
  for (const [model, translated] of [
    ["cohere", { input_type: "search_query" }],
    ["vertex", { instances: [{ content: "hi", task_type: "RETRIEVAL_QUERY" }] }],
  ] as const) {
    for (const requested of [{ input_type: "search_query" }, { task_type: "RETRIEVAL_QUERY" }]) {
      const response = await gateway.post("/v1/embeddings", { model: `embed/${model}`, input: "hi", ...requested });
      expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, null]);
      expect(lastUpstream().body).toMatchObject(translated);
    }
  }
});

test("returns a warning for fields that cannot be translated", async () => {
  const response = await gateway.post("/v1/embeddings", {
    model: "embed/titan",
    input: "hi",
    input_type: "clustering",
    color: 1,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sluice-warnings")).toMatch(/color.*the task of the vectors/);
});

test("estimates the cost when an upstream reports no usage", async () => {
  for (const model of ["openai", "vertex", "titan"]) {
    const input = `[[sim {"no_usage":true}]] one two three four`;
    const response = await gateway.post("/v1/embeddings", { model: `embed/${model}`, input });
    expect(response.status).toBe(200);
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ usageSource: "estimated", usage: { inputUncached: 12 }, costNanoUsd: 12_000 });
  }
});

test("translates a large answer in a worker thread", async () => {
  const input = Array.from({ length: 96 }, (_, index) => `text ${index}`);
  const response = await gateway.post("/v1/embeddings", { model: "embed/cohere", input, dimensions: 1_024 });
  const embedded = (await response.json()) as { data: { embedding: number[]; index: number }[] };
  expect(embedded.data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
  expect(embedded.data.every(({ embedding }) => embedding.length === 1_024)).toBe(true);
});

test("lists the endpoints of each embedding model", async () => {
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
