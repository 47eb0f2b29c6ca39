import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { call, createVideo, endedVideo, path, type Video, videoGateway, videoRequest } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

interface VideoList {
  readonly data: readonly Video[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

async function list(query: string): Promise<VideoList> {
  return (await (await gateway.get(`${path}?${query}`)).json()) as VideoList;
}

test("creates, returns and charges another vendor's video in OpenAI's shape", async () => {
  const answer = await gateway.post(path, videoRequest);
  expect([answer.status, Number(answer.headers.get("openai-poll-after-ms")) > 0]).toEqual([200, true]);
  const video = (await answer.json()) as Video;
  expect(video).toEqual({
    id: expect.stringMatching(/^video_[0-9A-Z]{26}$/),
    object: "video",
    model: "clip-test",
    status: "queued",
    progress: 0,
    created_at: expect.any(Number),
    completed_at: null,
    expires_at: null,
    seconds: "5",
    size: "1280x720",
    prompt: videoRequest.prompt,
    error: null,
    remixed_from_video_id: null,
  });
  const done = await endedVideo(gateway, video.id);
  const ends = { completed_at: expect.any(Number), expires_at: expect.any(Number) };
  expect(done).toEqual({ ...video, ...ends, status: "completed", progress: 100 });
  expect(done["completed_at"]).toBeGreaterThanOrEqual(Number(done["created_at"]));
  const read = await gateway.get(`${path}/${video.id}`);
  expect(read.headers.get("openai-poll-after-ms")).toBeNull();
  const [entry, ...more] = (await gateway.entries()).filter(({ endpoint }) => endpoint === "video");
  expect([more, entry?.costNanoUsd]).toEqual([[], (entry?.usage.output ?? 0) * 6_000]);
  expect(entry?.usage.output).toBeGreaterThan(0);
});

test("serves the bytes whole, in ranges and for HEAD, with variant=video or without", async () => {
  const { id } = await createVideo(gateway, videoRequest);
  await endedVideo(gateway, id);
  const whole = await gateway.get(`${path}/${id}/content`);
  const bytes = await whole.bytes();
  expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "video/mp4"]);
  const named = await gateway.get(`${path}/${id}/content?variant=video`);
  expect(Buffer.from(await named.bytes()).equals(bytes)).toBe(true);
  const bearer = { authorization: "Bearer sk-alice-0123456789abcdefghij" };
  const part = await gateway.get(`${path}/${id}/content`, { ...bearer, range: "bytes=4-7" });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 4-7/${bytes.length}`]);
  expect(Buffer.from(await part.bytes()).equals(bytes.subarray(4, 8))).toBe(true);
  const beyond = await gateway.get(`${path}/${id}/content`, { ...bearer, range: "bytes=99999999-" });
  expect(beyond.status).toBe(416);
  const head = await call(gateway, "HEAD", `${path}/${id}/content`);
  expect([head.status, head.headers.get("content-length"), (await head.bytes()).length]).toEqual([
    200,
    String(bytes.length),
    0,
  ]);
});

test("reads one task by its task id and its video id, on both endpoints", async () => {
  const video = await createVideo(gateway, videoRequest);
  const task = (await (
    await gateway.post("/v1/video/tasks", { model: "clip-test", prompt: "a lake", duration: 5, ratio: "9:16" })
  ).json()) as { id: string };
  const asTask = video.id.replace("video_", "vt_");
  const asVideo = task.id.replace("vt_", "video_");
  for (const id of [video.id, asTask]) {
    const received = (await (await gateway.get(`/v1/video/tasks/${id}`)).json()) as object;
    expect(received).toMatchObject({
      id: asTask,
      ratio: "16:9",
      resolution: "720p",
      duration: 5,
      prompt: videoRequest.prompt,
    });
  }
  for (const id of [task.id, asVideo]) {
    const received = (await (await gateway.get(`${path}/${id}`)).json()) as object;
    expect(received).toMatchObject({ id: asVideo, seconds: "5", size: null, prompt: "a lake" });
  }
  expect((await list("limit=2")).data.map(({ id }) => id)).toEqual([asVideo, video.id]);
  const tasks = (await (await gateway.get("/v1/video/tasks?limit=2")).json()) as VideoList;
  expect(tasks.data.map(({ id }) => id)).toEqual([task.id, asTask]);
});

test("accepts the fields of a task in addition to OpenAI's fields", async () => {
  const material = { last_frame: "https://pictures.example/b.png" };
  const video = await createVideo(gateway, {
    ...videoRequest,
    input_reference: { image_url: "https://pictures.example/a.png" },
    seed: 7,
    watermark: true,
    metadata: { order: "17" },
    ...material,
  });
  const task = await (await gateway.get(`/v1/video/tasks/${video.id}`)).json();
  expect(task).toMatchObject({ seed: 7, watermark: true, metadata: { order: "17" } });
  const [sent] = gateway.simulator.simulator.truth
    .list()
    .data.filter(({ method }) => method === "POST")
    .toReversed();
  const roles = (JSON.parse(sent?.body_text ?? "{}") as { content: { role?: string }[] }).content.map(
    ({ role }) => role,
  );
  expect(roles).toEqual([undefined, "first_frame", "last_frame"]);
});

test("lists videos in both orders, page by page, each once", async () => {
  for (let count = 0; count < 3; count++) await createVideo(gateway, videoRequest);
  const newest = (await list("limit=100")).data.map(({ id }) => id);
  for (const [order, expected] of [
    ["desc", newest],
    ["asc", newest.toReversed()],
  ] as const) {
    const listed: string[] = [];
    let page = await list(`limit=2&order=${order}`);
    for (;;) {
      expect([page.first_id, page.last_id]).toEqual([page.data[0]?.id ?? null, page.data.at(-1)?.id ?? null]);
      listed.push(...page.data.map(({ id }) => id));
      if (!page.has_more) break;
      page = await list(`limit=2&order=${order}&after=${page.last_id}`);
    }
    expect(listed).toEqual([...expected]);
  }
});

test("returns the same video for the same Idempotency-Key", async () => {
  const headers = { "idempotency-key": "order-17" };
  const first = (await (await gateway.post(path, videoRequest, { headers })).json()) as Video;
  const again = (await (await gateway.post(path, videoRequest, { headers })).json()) as Video;
  expect(again.id).toBe(first.id);
});

test("shows a cancelled or failed video as failed, with the reason", async () => {
  const failing = await createVideo(gateway, { ...videoRequest, prompt: 'a boat [[sim {"ends":"failed"}]]' });
  expect(await endedVideo(gateway, failing.id)).toMatchObject({
    status: "failed",
    completed_at: null,
    error: { code: expect.any(String), message: expect.any(String) },
  });
  const waiting = await createVideo(gateway, { ...videoRequest, prompt: 'a boat [[sim {"queued_ms":3600000}]]' });
  expect((await call(gateway, "DELETE", `/v1/video/tasks/${waiting.id}`)).status).toBe(200);
  expect(await endedVideo(gateway, waiting.id)).toMatchObject({ status: "failed", error: { code: "cancelled" } });
});
