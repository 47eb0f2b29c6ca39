import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { type Json, VideoClient, videoSetupConfig } from "./video-setup.ts";

let setup: TestSetup;
let api: VideoClient;
beforeAll(async () => {
  setup = await openSetup(videoSetupConfig);
  api = new VideoClient(setup.gateway.url);
});
afterAll(() => setup?.close());

const clip = { model: "clip", prompt: "she waves from the boat", ratio: "16:9", duration: 5, resolution: "720p" };
const slow = ` [[sim ${JSON.stringify({ queued_ms: 60_000 })}]]`;

async function groupAndAsset(name: string): Promise<{ readonly groupId: string; readonly assetId: string }> {
  const group = await api.post("/v1/asset-groups", {
    platform: "volcengine",
    name: "heroes",
    description: "characters of the film",
    project_name: "default",
  });
  expect(group).toMatchObject({
    status: 200,
    body: {
      object: "asset_group",
      platform: "volcengine",
      name: "heroes",
      description: "characters of the film",
      project_name: "default",
    },
  });
  const groupId = String(group.body["group_id"]);
  const url = "https://pictures.example/anna.png";
  const asset = await api.post("/v1/assets", {
    platform: "volcengine",
    group_id: groupId,
    url,
    asset_type: "Image",
    name,
  });
  expect(asset).toMatchObject({
    status: 200,
    body: { object: "asset", group_id: groupId, asset_type: "Image", url, status: "Processing", error: null },
  });
  return { groupId, assetId: String(asset.body["asset_id"]) };
}

test("from an image URL to a finished clip: group, asset, task, poll, content", async () => {
  const { groupId, assetId } = await groupAndAsset("anna");
  const path = `/v1/assets/${assetId}?platform=volcengine`;
  expect(await api.pollWhile(path, "Processing")).toMatchObject({ id: assetId, status: "Active" });
  expect(await api.getJson(`/v1/asset-groups/${groupId}?platform=volcengine`)).toMatchObject({
    status: 200,
    body: { id: groupId },
  });

  const order = { ...clip, references: [`asset://${assetId}`], metadata: { scene: 4 } };
  const key = { "idempotency-key": "scene-4" };
  const created = await api.post("/v1/video/tasks", order, key);
  expect(created).toMatchObject({
    status: 200,
    body: { object: "video.task", status: "queued", metadata: { scene: 4 } },
  });
  const taskId = String(created.body["task_id"]);
  expect(typeof created.body["poll_after_ms"]).toBe("number");
  expect((await api.post("/v1/video/tasks", order, key)).body["task_id"]).toBe(taskId);

  const done = await api.pollWhile(`/v1/video/tasks/${taskId}`, "queued", "running");
  expect(done).toMatchObject({ status: "succeeded", progress: 100, error: null, metadata: { scene: 4 } });
  const { content_url: contentUrl } = done["output"] as { readonly content_url: string };
  const whole = new Uint8Array(await (await api.get(contentUrl)).arrayBuffer());
  // MP4 files have this marker in bytes 5 to 8.
  expect(Buffer.from(whole.subarray(4, 8)).toString()).toBe("ftyp");
  const part = await api.get(contentUrl, { range: "bytes=4-7" });
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
    206,
    `bytes 4-7/${whole.length}`,
    "ftyp",
  ]);
  expect((await api.get(contentUrl, { range: `bytes=${whole.length}-` })).status).toBe(416);

  const [vendorTask] = await setup.simulator.tasks();
  expect((await setup.simulator.tasks()).length).toBe(1);
  const { usage, cost } = done as {
    usage: { output_tokens: number };
    cost: { amount_usd: number; estimated: boolean };
  };
  expect(usage.output_tokens).toBe(vendorTask?.tokens ?? -1);
  expect(cost).toEqual({ amount_usd: ((vendorTask?.tokens ?? 0) * 6) / 1e6, estimated: false });
});

test("lists tasks newest first; a queued task can be canceled at no cost, a finished one cannot", async () => {
  const created = await api.post("/v1/video/tasks", { ...clip, prompt: `she leaves${slow}` });
  const id = String(created.body["id"]);
  const listIds = (path: string) =>
    api.getJson(path).then(({ body }) => (body["data"] as Json[]).map((one) => one["id"]));
  expect((await listIds("/v1/video/tasks?limit=1"))[0]).toBe(id);
  expect(await listIds("/v1/video/tasks?status=queued")).toEqual([id]);
  const cancelled = await api.remove(`/v1/video/tasks/${id}`);
  expect(cancelled).toMatchObject({
    status: 200,
    body: { id, status: "cancelled", output: null, cost: { amount_usd: 0, estimated: false } },
  });
  expect(await listIds("/v1/video/tasks?status=cancelled")).toEqual([id]);
  expect(await api.remove(`/v1/video/tasks/${id}`)).toMatchObject({
    status: 409,
    body: { error: { code: "conflict" } },
  });
  expect((await setup.simulator.tasks()).find(({ state }) => state === "cancelled")).toBeDefined();
});

test("an asset that its library refuses is Failed with the library's reason, and tasks cannot use it", async () => {
  const { groupId, assetId } = await groupAndAsset('[[sim {"ends":"failed"}]]');
  const failed = await api.pollWhile(`/v1/assets/${assetId}?platform=volcengine`, "Processing");
  expect(failed).toMatchObject({
    status: "Failed",
    error: { code: "InputImageSensitiveContentDetected", message: "The material was refused." },
  });
  const refused = await api.post("/v1/video/tasks", { ...clip, image: `asset://${assetId}` });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: "invalid_request" } } });
  expect((refused.body["error"] as { message: string }).message).toContain(assetId);
  expect((await api.getJson(`/v1/assets?group_id=${groupId}&status=Failed`)).body["data"]).toHaveLength(1);
  expect(await api.remove(`/v1/assets/${assetId}`)).toMatchObject({
    status: 200,
    body: { id: assetId, deleted: true },
  });
  expect(await api.remove(`/v1/asset-groups/${groupId}`)).toMatchObject({ status: 200, body: { deleted: true } });
  expect((await api.getJson(`/v1/asset-groups/${groupId}?platform=volcengine`)).status).toBe(404);
});

describe("an invalid request is refused with the parameter's name and its accepted values", () => {
  const group = { platform: "volcengine", name: "heroes" };
  const asset = {
    platform: "local",
    group_id: "ag_1",
    url: "https://pictures.example/anna.png",
    asset_type: "Image",
    name: "anna",
  };
  const task = "/v1/video/tasks";
  const assets = "/v1/assets";
  const without = (body: Json, name: string): Json =>
    Object.fromEntries(Object.entries(body).filter(([k]) => k !== name));

  test.each([
    [task, without(clip, "model"), "model", ["missing"]],
    [task, { ...clip, model: 7 }, "model", ["string"]],
    [task, without(clip, "prompt"), "prompt", ["missing"]],
    [task, { ...clip, prompt: ["a boat"] }, "prompt", ["string"]],
    [task, { ...clip, ratio: "16x9" }, "ratio", ["<width>:<height>", '"16:9"', '"adaptive"']],
    [task, { ...clip, ratio: "5:7" }, "ratio", ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"]],
    [task, { ...clip, resolution: "720" }, "resolution", ['"720p"']],
    [task, { ...clip, resolution: "1440p" }, "resolution", ["480p", "720p", "1080p", "4k"]],
    [task, { ...clip, duration: "5" }, "duration", ["integer"]],
    [task, { ...clip, duration: 0 }, "duration", ["greater than 0"]],
    [task, { ...clip, duration: 60 }, "duration", ["4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"]],
    [task, { ...clip, audio: "yes" }, "audio", ["true or false"]],
    [task, { ...clip, watermark: 1 }, "watermark", ["true or false"]],
    [task, { ...clip, seed: 0.5 }, "seed", ["integer"]],
    [task, { ...clip, image: "ftp://x.example/a.png" }, "image", ["http", "https", "data:", "asset://<asset_id>"]],
    [task, { ...clip, last_frame: {} }, "last_frame", ["https", "data:", "asset://<asset_id>"]],
    [task, { ...clip, references: "asset://as_1" }, "references", ["array"]],
    [
      task,
      { ...clip, references: [{ url: asset.url, type: "text" }] },
      "references[0].type",
      ["image", "video", "audio"],
    ],
    [
      task,
      { ...clip, image: { url: asset.url, role: "hero" } },
      "image.role",
      ["first_frame", "last_frame", "reference"],
    ],
    [task, { ...clip, content: [] }, "content", ["at least one"]],
    [task, { ...clip, metadata: [1] }, "metadata", ["object"]],
    [task, { ...clip, callback_url: "http://127.0.0.1:9/hook" }, "callback_url", ["public", "http", "https"]],
    [task, { ...clip, callback_url: "http://localhost/hook" }, "callback_url", ["public", "http", "https"]],
    [`${task}?limit=0`, null, "limit", ["1 to"]],
    [`${task}?status=done`, null, "status", ["queued", "running", "succeeded", "failed", "cancelled", "expired"]],
    ["/v1/asset-groups", without(group, "platform"), "platform", ["missing"]],
    ["/v1/asset-groups", without(group, "name"), "name", ["missing"]],
    ["/v1/asset-groups", { ...group, name: "n".repeat(65) }, "name", ["64"]],
    ["/v1/asset-groups", { ...group, description: 5 }, "description", ["string"]],
    ["/v1/asset-groups", { ...group, project_name: "p".repeat(65) }, "project_name", ["64"]],
    ["/v1/asset-groups/ag_1", null, "platform", ["missing"]],
    [assets, without(asset, "platform"), "platform", ["missing"]],
    [assets, without(asset, "group_id"), "group_id", ["missing"]],
    [assets, without(asset, "url"), "url", ["missing"]],
    [assets, { ...asset, url: "file:///etc/passwd" }, "url", ["http", "https"]],
    [assets, { ...asset, url: "https://pictures.example:8443/a.png" }, "url", ["80", "443"]],
    [assets, without(asset, "asset_type"), "asset_type", ["missing"]],
    [assets, { ...asset, asset_type: "image" }, "asset_type", ["Image", "Video", "Audio"]],
    [assets, { ...asset, name: "n".repeat(65) }, "name", ["64"]],
    [`${assets}?status=active`, null, "status", ["Processing", "Active", "Failed"]],
    [`${assets}/as_1`, null, "platform", ["missing"]],
  ] satisfies [string, Json | null, string, string[]][])("%s %j: %s", async (path, body, param, words) => {
    const { status, body: answer } = body === null ? await api.getJson(path) : await api.post(path, body);
    expect([status, answer]).toMatchObject([400, { error: { param, type: "invalid_request_error" } }]);
    const { message } = answer["error"] as { readonly message: string };
    for (const word of words) expect(message).toContain(word);
  });

  test("returns 404 for an unknown platform, and names the existing ones", async () => {
    for (const path of ["/v1/asset-groups", assets]) {
      const { status, body } = await api.post(path, { ...asset, platform: "s3" });
      expect([status, body]).toMatchObject([404, { error: { param: "platform" } }]);
      expect((body["error"] as { message: string }).message).toContain("local, volcengine, byteplus");
    }
  });

  test("invalid requests do not reach a vendor", async () => {
    await setup.simulator.clear();
    await api.post(task, { ...clip, ratio: "5:7" });
    await api.post(task, { ...clip, callback_url: "http://[::1]/hook" });
    await api.post(assets, { ...asset, asset_type: "image" });
    expect((await setup.simulator.truth()).total).toBe(0);
  });
});
