import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      {
        name: "acme/embed",
        type: "embedding",
        deployments: [{ provider: "main", upstream_model: "upstream-embed" }],
        price: { input: 0.02 },
      },
    ],
  });
});
afterAll(() => gateway.stop());

test("returns vectors to OpenAI's SDK in either encoding, and charges the tokens as input", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
  for (const encoding_format of [undefined, "float", "base64"] as const) {
    const embedded = await client.embeddings.create({
      model: "acme/embed",
      input: ["one two", "three"],
      ...(encoding_format === undefined ? {} : { encoding_format }),
    });
    expect(embedded.data).toHaveLength(2);
    expect(embedded.usage.prompt_tokens).toBe(3);
  }
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "embeddings", usage: { inputUncached: 3, output: 0 }, costNanoUsd: 60 });
});

test("names a missing parameter", async () => {
  expect(await errorOf(await gateway.post("/v1/embeddings", { model: "acme/embed" }))).toMatchObject({
    status: 400,
    code: "missing_required_parameter",
    param: "input",
  });
});

test("does not list chat endpoints for an embedding model", async () => {
  const models = (await (await gateway.get("/v1/models/acme/embed")).json()) as { endpoints: string[] };
  expect(models.endpoints).toEqual([
    "/v1/embeddings",
    "/v1beta/models/{model}:embedContent",
    "/v1beta/models/{model}:batchEmbedContents",
  ]);
});
