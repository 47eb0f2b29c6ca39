import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("google", simulator, { kind: "gemini" }),
      upstream("volc", simulator, { kind: "ark" }),
    ],
    models: [
      {
        name: "gem-paint",
        type: "image",
        deployments: [{ provider: "google", upstream_model: "gemini-image" }],
        price: { input: 0.3, output: 2.5, image_output: 30 },
      },
      {
        name: "seed-paint",
        type: "image",
        deployments: [{ provider: "volc", upstream_model: "doubao-seedream-4-5" }],
        price: { image: 0.04 },
      },
    ],
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const lastUpstream = () => gateway.simulator.simulator.truth.list().data.at(-1);

test("creates pictures with a Gemini model, and counts and charges them as pictures", async () => {
  const created = await client.images.generate({ model: "gem-paint", prompt: "a boat", size: "1024x1024" });
  expect(created.data?.[0]?.b64_json?.length).toBeGreaterThan(20);
  expect(lastUpstream()?.path).toEndWith("/models/gemini-image:generateContent");
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "images", upstreamDialect: "gemini", outcome: "succeeded" });
  expect(entry?.usage.images).toBe(1);
  expect(entry?.usage.imageOutput).toBeGreaterThan(0);
  expect(entry?.costNanoUsd).toBeGreaterThanOrEqual((entry?.usage.imageOutput ?? 0) * 30_000);
});

test("counts the pictures of an upstream that reports no usage, and marks the entry as estimated", async () => {
  gateway.simulator.simulator.addPreset({ script: { no_usage: true }, count: 1, model: "gemini-image" });
  await client.images.generate({ model: "gem-paint", prompt: "a boat", size: "1024x1024" });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "succeeded", usageSource: "estimated", usage: { images: 1, output: 0 } });
  expect(entry?.usage.imageOutput).toBeGreaterThan(0);
});

test("edits pictures from a form with a Gemini model, also for a caller who wants a stream", async () => {
  const image = await toFile(png, "boat.png", { type: "image/png" });
  const edited = await client.images.edit({ model: "gem-paint", prompt: "make it red", image: [image, image] });
  expect(edited.data).toHaveLength(1);
  const sent = JSON.parse(lastUpstream()?.body_text ?? "{}") as {
    contents: { parts: { inlineData?: { data: string } }[] }[];
  };
  const pictures = sent.contents.flatMap(({ parts }) => parts.flatMap(({ inlineData }) => inlineData?.data ?? []));
  expect(pictures).toEqual([png.toString("base64"), png.toString("base64")]);
  const events = await client.images.edit({ model: "gem-paint", prompt: "red", image, stream: true });
  const types: string[] = [];
  for await (const event of events) types.push(event.type);
  expect(types).toEqual(["image_edit.completed"]);
});

test("creates and edits pictures with Seedream on its generations endpoint", async () => {
  const created = await client.images.generate({ model: "seed-paint", prompt: "a boat", size: "2048x2048" as "auto" });
  expect(created.data).toHaveLength(1);
  const image = await toFile(png, "boat.png", { type: "image/png" });
  const edited = await client.images.edit({ model: "seed-paint", prompt: "red", image });
  expect(edited.data).toHaveLength(1);
  expect(lastUpstream()?.path).toEndWith("/images/generations");
  expect(JSON.parse(lastUpstream()?.body_text ?? "{}")).toMatchObject({
    model: "doubao-seedream-4-5",
    prompt: "red",
    image: `data:image/png;base64,${png.toString("base64")}`,
  });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "image-edits", usage: { images: 1 }, costNanoUsd: 40_000_000 });
});

test("names the field that an upstream of another type cannot support", async () => {
  const several = await gateway.post("/v1/images/generations", { model: "gem-paint", prompt: "x", n: 2 });
  expect(await errorOf(several)).toMatchObject({ status: 400, code: "unsupported_by_model", param: "n" });
  const data = `data:image/png;base64,${png.toString("base64")}`;
  const withMask = await gateway.post("/v1/images/edits", {
    model: "seed-paint",
    prompt: "x",
    image: data,
    mask: data,
  });
  expect(await errorOf(withMask)).toMatchObject({ status: 400, code: "unsupported_by_model", param: "mask" });
});
