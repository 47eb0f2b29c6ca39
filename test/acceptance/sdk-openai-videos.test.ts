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

/** OpenAI itself, two vendors who speak otherwise, and the demo inside the gateway. */
function config(simulatorUrl: string): ConfigFile {
  const { origin } = new URL(simulatorUrl);
  const outside = { api_key: "sk-upstream", allow_private_network: true };
  return {
    providers: [
      { id: "open", kind: "openai", base_url: simulatorUrl, ...outside },
      { id: "volc", kind: "ark", base_url: simulatorUrl, ...outside },
      { id: "google", kind: "gemini", base_url: `${origin}/v1beta`, ...outside },
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

/** As programs wait that have no helper for it. */
function ended(id: string): Promise<OpenAI.Video> {
  return until(async () => {
    const video = await client.videos.retrieve(id);
    return video.status === "queued" || video.status === "in_progress" ? null : video;
  });
}

/** Of OpenAI, of two vendors who speak otherwise, and of the demo, with a length that each makes. */
const models = [
  ["sora-2", "8"],
  ["seedance", "5"],
  ["veo", "8"],
  ["demo-video", "5"],
] as const;

test("a video of any vendor's model is created, waited for, downloaded and deleted", async () => {
  const lives = models.map(async ([name, seconds]) => {
    const asked = { model: name, prompt: "A boat on a lake.", seconds, size: "1280x720" } as OpenAI.VideoCreateParams;
    const created = await client.videos.create(asked);
    expect(created).toMatchObject({ object: "video", model: name, seconds, size: "1280x720", error: null });
    const video = await ended(created.id);
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
  expect(await Promise.all(lives)).toEqual(models.map(([name]) => name));
});

test("a video of any vendor's model begins with a picture of the caller's", async () => {
  const lives = models.map(async ([name]) => {
    const input_reference = await toFile(png, "first.png", { type: "image/png" });
    const created = await client.videos.create({ model: name, prompt: "It moves.", input_reference });
    return (await ended(created.id)).status;
  });
  expect(await Promise.all(lives)).toEqual(models.map(() => "completed"));
});

test("every video is listed, page by page, and OpenAI's can be made anew and have pictures", async () => {
  const source = await client.videos.create({ model: "sora-2", prompt: "A boat.", seconds: "4" });
  await ended(source.id);
  const remix = await client.videos.remix(source.id, { prompt: "A boat at night." });
  expect(remix).toMatchObject({ remixed_from_video_id: source.id, seconds: "4" });
  expect((await ended(remix.id)).status).toBe("completed");
  const thumbnail = await client.videos.downloadContent(remix.id, { variant: "thumbnail" });
  expect(thumbnail.headers.get("content-type")).toStartWith("image/");
  const ids = (await Array.fromAsync(client.videos.list({ limit: 2 }))).map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual([remix.id, source.id]);
  expect(new Set(ids).size).toBe(ids.length);
  const oldest = (await Array.fromAsync(client.videos.list({ limit: 2, order: "asc" }))).map(({ id }) => id);
  expect(oldest).toEqual(ids.toReversed());
});

test("what is not offered is a BadRequestError that says so", async () => {
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
