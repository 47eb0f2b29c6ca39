import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { createVideo, endedVideo, path, strangerKey, twoVendors, type Video } from "./videos-gateway.ts";

const klingKey = "sk-narrow-0123456789abcdefghij";
let gateway: StartedGateway;
let source: Video;
beforeAll(async () => {
  gateway = await startGateway({
    ...twoVendors,
    // The second account offers the same model, but only the first one has the video.
    providers: (simulator) => [
      ...(twoVendors.providers?.(simulator) ?? []),
      upstream("spare", simulator, { kind: "openai", api_key: "sk-another-account" }),
    ],
    models: [
      ...(twoVendors.models ?? []),
      {
        name: "sora-of-many",
        type: "video",
        deployments: [
          { provider: "spare", upstream_model: "sora-2", priority: 1 },
          { provider: "open", upstream_model: "sora-2-pro", priority: 2 },
          { provider: "open", upstream_model: "sora-2", priority: 3 },
        ],
        price: { video: 0.1 },
      },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "narrow", secret: klingKey, models: ["kling"] },
    ],
    moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] }],
  });
  source = await createVideo(gateway, { model: "sora-2", prompt: "a boat", seconds: "8", size: "1280x720" });
  await endedVideo(gateway, source.id);
});
afterAll(() => gateway?.stop());

const remix = (id: string, body: unknown, key = aliceKey): Promise<Response> =>
  gateway.post(`${path}/${id}/remix`, body, { key });
const creations = () => gateway.simulator.simulator.truth.list().data.filter(({ method }) => method === "POST");

test("remixes OpenAI's video at the account that has it, with the original length and size", async () => {
  const answer = await remix(source.id, { prompt: "a boat at night", metadata: { scene: 2 } });
  const video = (await answer.json()) as Video;
  expect([answer.status, video]).toMatchObject([
    200,
    { model: "sora-2", seconds: "8", size: "1280x720", prompt: "a boat at night", remixed_from_video_id: source.id },
  ]);
  const [sent] = creations().toReversed();
  const upstreamId = gateway.simulator.simulator.tasks.list().data[0]?.id;
  expect([sent?.path, JSON.parse(sent?.body_text ?? "")]).toEqual([
    `/v1/videos/${upstreamId}/remix`,
    { prompt: "a boat at night" },
  ]);
  expect(await endedVideo(gateway, video.id)).toMatchObject({ status: "completed", remixed_from_video_id: source.id });
  const costs = (await gateway.entries()).filter(({ endpoint }) => endpoint === "video").map((one) => one.costNanoUsd);
  expect(costs).toEqual([800_000_000, 800_000_000]);
  const task = await (await gateway.get(`/v1/video/tasks/${video.id}`)).json();
  expect(task).toMatchObject({ remix_of: source.id.replace("video_", "vt_"), duration: 8, metadata: { scene: 2 } });
  expect((await endedVideo(gateway, source.id))["remixed_from_video_id"]).toBeNull();
});

test("remixes with a task too, only at the account and the upstream model of the original", async () => {
  for (const id of [source.id, source.id.replace("video_", "vt_")]) {
    const answer = await gateway.post("/v1/video/tasks", { model: "sora-of-many", prompt: "a raft", remix_of: id });
    const { id: remixId } = (await answer.json()) as { id: string };
    await endedVideo(gateway, remixId);
    const entry = (await gateway.entries()).find(({ requestId }) => requestId === answer.headers.get("x-request-id"));
    expect([answer.status, entry?.provider, entry?.upstreamModel]).toEqual([200, "open", "sora-2"]);
  }
});

test("accepts a form, and finds a remix by its Idempotency-Key", async () => {
  const body = new FormData();
  body.append("prompt", "a boat in fog");
  const send = async () =>
    (await (
      await fetch(`${gateway.url}${path}/${source.id}/remix`, {
        method: "POST",
        headers: { authorization: `Bearer ${aliceKey}`, "idempotency-key": "remix-1" },
        body,
      })
    ).json()) as Video;
  const first = await send();
  expect((await send()).id).toBe(first.id);
});

test.each([
  [{}, 400, "missing_required_parameter", "prompt"],
  [{ prompt: "x", seconds: "4" }, 400, "invalid_request", "seconds"],
  [{ prompt: "x", size: "720x1280" }, 400, "invalid_request", "size"],
  [{ prompt: "x", model: "kling" }, 400, "invalid_request", "model"],
  [{ prompt: "x", remix_of: "vt_1" }, 400, "invalid_request", "remix_of"],
  [{ prompt: "x", seed: 7 }, 400, "invalid_request", "seed"],
  [{ prompt: "x", input_reference: "https://a.example/a.png" }, 400, "invalid_request", "input_reference"],
  ["[]", 400, "invalid_json", null],
])("rejects %j and sends nothing", async (body, status, code, param) => {
  const before = creations().length;
  expect(await errorOf(await remix(source.id, body))).toMatchObject({ status, code, param });
  expect(creations()).toHaveLength(before);
});

test("rejects remixes of an unfinished video and of a vendor without remixes, before storing anything", async () => {
  const kling = await createVideo(gateway, { model: "kling", prompt: "a boat", seconds: "5" });
  await endedVideo(gateway, kling.id);
  const waiting = await createVideo(gateway, {
    model: "sora-2",
    prompt: 'x [[sim {"queued_ms":3600000}]]',
    seconds: "4",
  });
  const before = (await (await gateway.get(`${path}?limit=100`)).json()) as { data: unknown[] };
  for (const [id, code, words] of [
    [kling.id, "unsupported_by_model", '"kling"'],
    [waiting.id, "invalid_request", "queued"],
  ] as const) {
    const error = await errorOf(await remix(id, { prompt: "y" }));
    expect(error).toMatchObject({ status: 400, code, param: "video_id" });
    expect(error.message).toContain(words);
  }
  const other = await gateway.post("/v1/video/tasks", { model: "kling", prompt: "y", remix_of: source.id });
  expect(await errorOf(other)).toMatchObject({ status: 400, code: "unsupported_by_model", param: "remix_of" });
  const after = (await (await gateway.get(`${path}?limit=100`)).json()) as { data: unknown[] };
  expect(after.data).toHaveLength(before.data.length);
});

test("returns 404 to a key without the video's model and to another workspace", async () => {
  expect(await errorOf(await remix(source.id, { prompt: "x" }, klingKey))).toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  const unusedId = `video_${"0".repeat(26)}`;
  const theirs = await errorOf(await remix(source.id, { prompt: "x" }, strangerKey));
  const none = await errorOf(await remix(unusedId, { prompt: "x" }, strangerKey));
  expect(theirs).toMatchObject({ status: 404, code: "task_not_found", param: "video_id" });
  expect({ ...theirs, message: theirs.message.replace(source.id, unusedId) }).toEqual(none);
  for (const id of [source.id, unusedId, "cgt-1", "vt_.."]) {
    const request = { model: "sora-2", prompt: "x", remix_of: id };
    const error = await errorOf(await gateway.post("/v1/video/tasks", request, { key: strangerKey }));
    expect(error).toMatchObject({ status: 404, code: "task_not_found", param: "remix_of" });
  }
});

test("returns thumbnails where the vendor has them, and an error elsewhere", async () => {
  for (const variant of ["thumbnail", "spritesheet"]) {
    const answer = await gateway.get(`${path}/${source.id}/content?variant=${variant}`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(
      Buffer.from(await answer.bytes())
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
  }
  const [kling] = ((await (await gateway.get(`${path}?limit=100`)).json()) as { data: Video[] }).data.filter(
    ({ model, status }) => model === "kling" && status === "completed",
  );
  const error = await errorOf(await gateway.get(`${path}/${kling?.id}/content?variant=thumbnail`));
  expect(error).toMatchObject({ status: 400, code: "unsupported_by_model", param: "variant" });
  expect((await gateway.get(`${path}/${kling?.id}/content`)).status).toBe(200);
});
