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

test("OpenAI's SDK gets vectors in either encoding, and the tokens are paid as input", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
  for (const encoding_format of [undefined, "float", "base64"] as const) {
    const made = await client.embeddings.create({
      model: "acme/embed",
      input: ["one two", "three"],
      ...(encoding_format === undefined ? {} : { encoding_format }),
    });
    expect(made.data).toHaveLength(2);
    expect(made.usage.prompt_tokens).toBe(3);
  }
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "embeddings", usage: { inputUncached: 3, output: 0 }, costNanoUsd: 60 });
});

test("what is missing is named", async () => {
  expect(await errorOf(await gateway.post("/v1/embeddings", { model: "acme/embed" }))).toMatchObject({
    status: 400,
    code: "missing_required_parameter",
    param: "input",
  });
});

test("a model of vectors cannot be asked to chat where its upstream does not", async () => {
  const models = (await (await gateway.get("/v1/models/acme/embed")).json()) as { endpoints: string[] };
  expect(models.endpoints).toEqual([
    "/v1/embeddings",
    "/v1beta/models/{model}:embedContent",
    "/v1beta/models/{model}:batchEmbedContents",
  ]);
});
