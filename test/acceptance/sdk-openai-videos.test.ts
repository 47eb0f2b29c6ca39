import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import OpenAI, { toFile } from "openai";
import { until } from "../until.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

let setup: TestSetup;
let client: OpenAI;

beforeAll(async () => {
  setup = await openSetup(config);
  client = new OpenAI({ baseURL: `${setup.gateway.url}/v1`, apiKey: keys.main, maxRetries: 0 });
});
afterAll(() => setup?.close());

/** OpenAI, two vendors with other APIs, and the demo inside the gateway. */
function config(simulatorUrl: string): ConfigFile {
  const { origin } = new URL(simulatorUrl);
  const account = { api_key: "sk-upstream", allow_private_network: true };
  return {
    providers: [
      { id: "open", kind: "openai", base_url: simulatorUrl, ...account },
      { id: "volc", kind: "ark", base_url: simulatorUrl, ...account },
      { id: "google", kind: "gemini", base_url: `${origin}/v1beta`, ...account },
      { id: "demo", kind: "demo" },
    ],
    models: [
      model("sora-2", "open", "sora-2"),
      model("seedance", "volc", "doubao-seedance-2-0-260128"),
      model("veo", "google", "veo-3.1-generate-preview"),
      model("demo-video", "demo", "demo-video"),
    ],
    workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main }] }],
  };
}

function model(name: string, provider: string, upstream: string): NonNullable<ConfigFile["models"]>[number] {
  return { name, type: "video", deployments: [{ provider, upstream_model: upstream }], price: { video: 0.1 } };
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Polls a video until it has ended. */
function waitForEnd(id: string): Promise<OpenAI.Video> {
  return until(async () => {
    const video = await client.videos.retrieve(id);
    return video.status === "queued" || video.status === "in_progress" ? null : video;
  });
}

/** A model of each provider with a duration that it supports. */
const models = [
  ["sora-2", "8"],
  ["seedance", "5"],
  ["veo", "8"],
  ["demo-video", "5"],
] as const;

test("a video of any vendor is created, polled, downloaded and deleted", async () => {
  const results = models.map(async ([name, seconds]) => {
    const request = { model: name, prompt: "A boat on a lake.", seconds, size: "1280x720" } as OpenAI.VideoCreateParams;
    const created = await client.videos.create(request);
    expect(created).toMatchObject({ object: "video", model: name, seconds, size: "1280x720", error: null });
    const video = await waitForEnd(created.id);
    expect(video).toMatchObject({ id: created.id, status: "completed", progress: 100 });
    const file = await client.videos.downloadContent(video.id);
    const bytes = await file.bytes();
    expect([file.headers.get("content-type"), bytes.subarray(4, 8)]).toEqual(["video/mp4", Buffer.from("ftyp")]);
    expect(await client.videos.delete(video.id)).toEqual({ id: video.id, object: "video.deleted", deleted: true });
    const missing = await client.videos.retrieve(video.id).then(
      () => null,
      (error: unknown) => error,
    );
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
    return name;
  });
  expect(await Promise.all(results)).toEqual(models.map(([name]) => name));
});

test("a video of any vendor can start from the caller's image", async () => {
  const results = models.map(async ([name]) => {
    const input_reference = await toFile(png, "first.png", { type: "image/png" });
    const created = await client.videos.create({ model: name, prompt: "It moves.", input_reference });
    return (await waitForEnd(created.id)).status;
  });
  expect(await Promise.all(results)).toEqual(models.map(() => "completed"));
});

test("a video of any vendor can start from an uploaded file, which is named by its id", async () => {
  const file = await client.files.create({
    file: await toFile(png, "first.png", { type: "image/png" }),
    purpose: "vision",
  });
  const results = models.map(async ([name]) => {
    const created = await client.videos.create({
      model: name,
      prompt: "It moves.",
      input_reference: { file_id: file.id },
    });
    return (await waitForEnd(created.id)).status;
  });
  expect(await Promise.all(results)).toEqual(models.map(() => "completed"));
  await client.files.delete(file.id);
  const missing = await client.videos.create({ prompt: "It moves.", input_reference: { file_id: file.id } }).then(
    () => null,
    (error: unknown) => error,
  );
  expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
});

test("lists all videos page by page; OpenAI's can be remixed and have thumbnails", async () => {
  const source = await client.videos.create({ model: "sora-2", prompt: "A boat.", seconds: "4" });
  await waitForEnd(source.id);
  const remix = await client.videos.remix(source.id, { prompt: "A boat at night." });
  expect(remix).toMatchObject({ remixed_from_video_id: source.id, seconds: "4" });
  expect((await waitForEnd(remix.id)).status).toBe("completed");
  const thumbnail = await client.videos.downloadContent(remix.id, { variant: "thumbnail" });
  expect(thumbnail.headers.get("content-type")).toStartWith("image/");
  const ids = (await Array.fromAsync(client.videos.list({ limit: 2 }))).map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual([remix.id, source.id]);
  expect(new Set(ids).size).toBe(ids.length);
  const oldest = (await Array.fromAsync(client.videos.list({ limit: 2, order: "asc" }))).map(({ id }) => id);
  expect(oldest).toEqual(ids.toReversed());
});

test("an unsupported operation is a BadRequestError", async () => {
  const video = { id: "video_01" };
  const calls = [
    () => client.videos.edit({ prompt: "x", video }),
    () => client.videos.extend({ prompt: "x", seconds: "4", video }),
    () => client.videos.getCharacter("char_1"),
  ];
  for (const call of calls) {
    const thrown = await call().then(
      () => null,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
    expect(String(thrown)).toContain("does not offer");
  }
});
