import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted, thrownBy } from "./sdk-call.ts";
import { stuck, taskCall, truthOf } from "./task-call.ts";

let running: RunningSimulator;
let client: OpenAI;
beforeAll(() => {
  running = serveSimulator();
  client = new OpenAI({ baseURL: running.url, apiKey: "sk-sim-0000", maxRetries: 0 });
});
afterAll(() => running.stop());
// Tasks change state with the time of day.
afterEach(() => void setSystemTime());

const request = { model: "sora-2", prompt: "a cat", seconds: "8", size: "1280x720" } as const;

describe("a video through the official client", () => {
  test("can be created, polled until it is complete, and downloaded", async () => {
    let video = await client.videos.create(
      request,
      scripted({ queued_ms: 60_000, running_ms: 60_000, video_bytes: 60_000 }),
    );
    expect(video).toMatchObject({ object: "video", status: "queued", progress: 0, seconds: "8", size: "1280x720" });
    const seen = new Set<string>([video.status]);
    while (video.status !== "completed") {
      video = await client.videos.retrieve(video.id);
      seen.add(video.status);
      setSystemTime(Date.now() + 40_000);
    }
    expect([...seen]).toEqual(["queued", "in_progress", "completed"]);
    expect(video).toMatchObject({ progress: 100, prompt: "a cat", error: null, completed_at: expect.any(Number) });
    const content = await client.videos.downloadContent(video.id);
    expect(content.headers.get("content-type")).toBe("video/mp4");
    expect((await content.arrayBuffer()).byteLength).toBe(60_000);
    const thumbnail = await client.videos.downloadContent(video.id, { variant: "thumbnail" });
    expect(thumbnail.headers.get("content-type")).toBe("image/png");
    expect(truthOf(running, video.id)).toMatchObject({ downloads: 2, state: "succeeded" });
  });

  test("can have a reference file; bodies with the same parts count as the same body", async () => {
    const create = async () =>
      client.videos.create(
        { ...request, input_reference: await toFile(Buffer.from("pixels"), "a.png", { type: "image/png" }) },
        scripted(stuck.queued),
      );
    const [first, second] = [await create(), await create()];
    expect(truthOf(running, second.id)).toMatchObject({
      creates_of_body: 2,
      body_sha256: truthOf(running, first.id)?.body_sha256,
    });
    const empty = await toFile(Buffer.alloc(0), "a.png", { type: "image/png" });
    expect(await thrownBy(client.videos.create({ ...request, input_reference: empty }))).toMatchObject({ status: 400 });
  });

  test("that fails has an error and no content", async () => {
    const { id } = await client.videos.create(request, scripted({ ...stuck.failed, error_code: "moderation_blocked" }));
    expect(await client.videos.retrieve(id)).toMatchObject({ status: "failed", error: { code: "moderation_blocked" } });
    expect(await thrownBy(client.videos.downloadContent(id))).toMatchObject({ status: 404 });
  });

  test("can be listed in pages, remixed, and deleted once it is finished", async () => {
    const other = new OpenAI({ baseURL: running.url, apiKey: "sk-other", maxRetries: 0 });
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) ids.push((await other.videos.create(request, scripted(stuck.done))).id);
    const listed = await Array.fromAsync(other.videos.list({ limit: 2 }));
    expect(listed.map((video) => video.id)).toEqual(ids.toReversed());
    const remixed = await other.videos.remix(ids[0] ?? "", { prompt: "a dog" }, scripted(stuck.queued));
    expect(remixed).toMatchObject({ remixed_from_video_id: ids[0], prompt: "a dog", seconds: "8" });
    expect(await thrownBy(other.videos.delete(remixed.id))).toMatchObject({ status: 400 });
    expect(await other.videos.delete(ids[0] ?? "")).toMatchObject({ object: "video.deleted", deleted: true });
    expect(await thrownBy(other.videos.retrieve(ids[0] ?? ""))).toMatchObject({ status: 404 });
    expect(await thrownBy(client.videos.retrieve(ids[1] ?? ""))).toMatchObject({ status: 404 });
  });
});

test.each([
  ["no prompt", { model: "sora-2" }, "prompt"],
  ["a length that is not offered", { ...request, seconds: "5" }, "seconds"],
  ["a length that is not a string", { ...request, seconds: 8 }, "seconds"],
  ["a size that is not offered", { ...request, size: "100x100" }, "size"],
])("refuses JSON with %s", async (_what, body, param) => {
  const { status, body: answer } = await taskCall(running, "/v1/videos", {
    body,
    headers: { authorization: "Bearer k" },
  });
  expect([status, answer.at("error", "param")]).toEqual([400, param]);
});

test("content requires the key, supports ranges, and is not found after it expired", async () => {
  const headers = { authorization: "Bearer sk-sim-0000" };
  const { body } = await taskCall(running, "/v1/videos", { body: request, headers, script: stuck.done });
  const url = `${running.url}/videos/${body.text("id")}/content`;
  expect((await fetch(url)).status).toBe(401);
  const part = await fetch(url, { headers: { ...headers, range: "bytes=4-7" } });
  expect([part.status, await part.text()]).toEqual([206, "ftyp"]);
  expect(await lastRecord(running)).toMatchObject({ dialect: "openai-videos", status: 206, terminal_sent: true });
  const expired = await taskCall(running, "/v1/videos", {
    body: request,
    headers,
    script: { ...stuck.done, url_ms: 0 },
  });
  expect((await fetch(`${running.url}/videos/${expired.body.text("id")}/content`, { headers })).status).toBe(404);
});
