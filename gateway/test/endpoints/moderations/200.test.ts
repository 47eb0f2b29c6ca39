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

test("moderates texts and pictures for OpenAI's SDK, at no cost for a free model", async () => {
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

test("uses OpenAI's default model when the call names none", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
  expect((await client.moderations.create({ input: "calm" })).results).toHaveLength(1);
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.model).toBe("upstream-judge");
  expect((await gateway.entries())[0]).toMatchObject({ model: "omni-moderation-latest", usageSource: "estimated" });
});

test("charges the usage that an upstream reports", async () => {
  const body = '{"id":"m","results":[{}],"usage":{"prompt_tokens":9,"total_tokens":9}}';
  await gateway.post("/v1/moderations", { input: "x" }, { script: { body } });
  expect((await gateway.entries())[0]).toMatchObject({ usage: { inputUncached: 9 }, usageSource: "upstream" });
});

test("returns 502 when a 200 contains an error", async () => {
  const answer = await gateway.post(
    "/v1/moderations",
    { input: "x" },
    { script: { body: '{"error":{"message":"no"}}' } },
  );
  expect(await errorOf(answer)).toMatchObject({ status: 502, code: "upstream_error" });
});
