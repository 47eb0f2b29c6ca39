import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

const deployments = [{ provider: "main", upstream_model: "upstream-judge" }];
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      { name: "judge", type: "moderation", deployments },
      { name: "omni-moderation-latest", type: "moderation", deployments, price: { input: 1 } },
    ],
  });
});
afterAll(() => gateway.stop());

test("OpenAI's SDK has texts and pictures judged; what is free costs nothing", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
  const texts = await client.moderations.create({ model: "judge", input: ["calm", "violence"] });
  expect(texts.results.map(({ flagged }) => flagged)).toEqual([false, true]);
  const parts = await client.moderations.create({
    model: "judge",
    input: [
      { type: "text", text: "violence" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ],
  });
  expect(parts.results).toHaveLength(2);
  expect((await gateway.entries())[0]).toMatchObject({ endpoint: "moderations", outcome: "succeeded", costNanoUsd: 0 });
});

test("without a model the one that OpenAI takes is meant, and said to the upstream by the name it knows", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
  expect((await client.moderations.create({ input: "calm" })).results).toHaveLength(1);
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.model).toBe("upstream-judge");
  expect((await gateway.entries())[0]).toMatchObject({ model: "omni-moderation-latest", usageSource: "estimated" });
});

test("usage that an upstream tells is what is paid", async () => {
  const body = '{"id":"m","results":[{}],"usage":{"prompt_tokens":9,"total_tokens":9}}';
  await gateway.post("/v1/moderations", { input: "x" }, { script: { body } });
  expect((await gateway.entries())[0]).toMatchObject({ usage: { inputUncached: 9 }, usageSource: "upstream" });
});

test("a 200 that carries an error is none", async () => {
  const answer = await gateway.post(
    "/v1/moderations",
    { input: "x" },
    { script: { body: '{"error":{"message":"no"}}' } },
  );
  expect(await errorOf(answer)).toMatchObject({ status: 502, code: "upstream_error" });
});
