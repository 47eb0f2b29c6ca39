import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { imageGateway } from "./image-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(imageGateway);
});
afterAll(() => gateway.stop());

const cat = { model: "paint-test", prompt: "a cat on a roof", size: "1024x1024", n: 2 };

test("returns the upstream's answer unchanged", async () => {
  const response = await gateway.post("/v1/images/generations", { ...cat, unknown_field: { x: [1] } });
  expect(response.status).toBe(200);
  const answer = (await response.json()) as OpenAI.ImagesResponse;
  expect(answer.data).toHaveLength(2);
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(JSON.parse(received?.body_text ?? "")).toEqual({ ...cat, model: "gpt-image-1", unknown_field: { x: [1] } });
  expect(JSON.stringify(answer)).toBe(received?.reply_text ?? "");
});

test.each(["openai", "azure-openai"])(
  "on %s, accepts a response format that the model returns anyway",
  async (kind) => {
    const model = `paint-${kind}`;
    const request = { ...cat, model, response_format: "b64_json" };
    expect((await gateway.post("/v1/images/generations", request)).status).toBe(200);
    const received = gateway.simulator.simulator.truth.list().data.at(-1);
    expect(JSON.parse(received?.body_text ?? "")).toEqual({ ...cat, model: "gpt-image-1" });
    const refused = await gateway.post("/v1/images/generations", { ...request, response_format: "url" });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: "response_format" } }]);
    const older = await gateway.post("/v1/images/generations", { ...request, model: `${model}-old`, n: 1 });
    const { data } = (await older.json()) as OpenAI.ImagesResponse;
    expect(data?.[0]?.b64_json?.length).toBeGreaterThan(20);
  },
);

test("writes one ledger entry with pictures and tokens, and charges both", async () => {
  await gateway.post("/v1/images/generations", cat, { script: { prompt_tokens: 100, image_tokens: 1_000 } });
  const [entry] = await gateway.entries();
  expect(entry?.usage).toMatchObject({ inputUncached: 100, imageInput: 0, imageOutput: 2_000, images: 2 });
  expect(entry?.costNanoUsd).toBe(100 * 5_000 + 2_000 * 40_000 + 2 * 10_000_000);
  expect(entry).toMatchObject({ endpoint: "images", outcome: "succeeded", usageSource: "upstream" });
});

test("streams partial and final pictures to OpenAI's SDK, and records the stream's usage", async () => {
  const client = new OpenAI({ apiKey: aliceKey, baseURL: `${gateway.url}/v1` });
  const types: string[] = [];
  const stream = await client.images.generate({ ...cat, n: 1, stream: true, partial_images: 2 });
  for await (const event of stream) types.push(event.type);
  expect(types).toEqual([
    "image_generation.partial_image",
    "image_generation.partial_image",
    "image_generation.completed",
  ]);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ stream: true, outcome: "succeeded", usageSource: "upstream", usage: { images: 1 } });
});

test("passes a picture of several megabytes in one event", async () => {
  const script = { giant_event_bytes: 6_000_000 };
  const response = await gateway.post("/v1/images/generations", { ...cat, n: 1, stream: true }, { script });
  expect((await response.text()).length).toBeGreaterThan(6_000_000);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "succeeded", usage: { images: 1 } });
});

test.each([
  [{ prompt: "p" }, "missing_required_parameter", "model"],
  [{ model: "paint-test" }, "missing_required_parameter", "prompt"],
])("returns 400 for %j and names the missing field", async (body, code, param) => {
  const response = await gateway.post("/v1/images/generations", body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code, param } });
});
