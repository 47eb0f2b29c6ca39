import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway as arkGateway } from "../video-tasks/video-gateway.ts";
import { call, createVideo, endedVideo, path, strangerKey, twoVendors, type Video } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...twoVendors,
    providers: (simulator) => [
      ...(twoVendors.providers?.(simulator) ?? []),
      ...(arkGateway.providers?.(simulator) ?? []),
    ],
    models: [...(twoVendors.models ?? []), ...(arkGateway.models ?? [])],
    moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] }],
    settings: { video: { copy_results: true } },
  });
});
afterAll(() => gateway?.stop());

const sora = { model: "sora-2", prompt: "a boat", seconds: "4" };
const vendorTask = () => gateway.simulator.simulator.tasks.list().data.at(-1);
const remove = (id: string, key = aliceKey): Promise<Response> => call(gateway, "DELETE", `${path}/${id}`, key);

async function listed(): Promise<readonly string[]> {
  const { data } = (await (await gateway.get(`${path}?limit=100`)).json()) as { data: Video[] };
  return data.map(({ id }) => id);
}

test("deletes a video here and at the vendor, and keeps its ledger entry", async () => {
  const video = await createVideo(gateway, sora);
  await endedVideo(gateway, video.id);
  const copied = await until(async () => {
    const answer = await gateway.get(`${path}/${video.id}/content`);
    await answer.body?.cancel();
    return answer.headers.get("etag");
  });
  expect(copied).not.toBeNull();
  const entries = await gateway.entries();
  const answer = await remove(video.id);
  expect([answer.status, await answer.json()]).toEqual([200, { id: video.id, object: "video.deleted", deleted: true }]);
  const id = video.id.replace("video_", "vt_");
  for (const at of [`${path}/${video.id}`, `${path}/${video.id}/content`, `/v1/video/tasks/${id}`]) {
    expect(await errorOf(await gateway.get(at))).toMatchObject({ status: 404, code: "task_not_found" });
  }
  expect(await errorOf(await remove(video.id))).toMatchObject({ status: 404, code: "task_not_found" });
  expect(await listed()).not.toContain(video.id);
  const tasks = (await (await gateway.get("/v1/video/tasks")).json()) as { data: { id: string }[] };
  expect(tasks.data.map((task) => task.id)).not.toContain(id);
  expect(vendorTask()).toMatchObject({ state: "succeeded", deleted_at: expect.any(Number) });
  expect(await gateway.entries()).toEqual(entries);
});

test("cancels and deletes a queued video with one call, by either id", async () => {
  for (const name of ["video_", "vt_"]) {
    const prompt = `${name} waits [[sim {"queued_ms":3600000}]]`;
    const video = await createVideo(gateway, { model: "clip-test", prompt, seconds: "5" });
    const answer = await remove(video.id.replace("video_", name));
    expect([answer.status, await answer.json()]).toMatchObject([200, { id: video.id, deleted: true }]);
    expect(vendorTask()).toMatchObject({ state: "cancelled" });
    expect(await listed()).not.toContain(video.id);
  }
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("returns an error for a video that the vendor cannot cancel, and keeps it", async () => {
  const video = await createVideo(gateway, { ...sora, prompt: 'a boat [[sim {"queued_ms":3600000}]]' });
  expect(await errorOf(await remove(video.id))).toMatchObject({
    status: 400,
    code: "invalid_request",
    param: "video_id",
  });
  expect((await gateway.get(`${path}/${video.id}`)).status).toBe(200);
});

test("lists every video once while videos are being deleted", async () => {
  const before = await listed();
  const ids: string[] = [];
  for (let count = 0; count < 5; count++)
    ids.push((await createVideo(gateway, { ...sora, prompt: `walk ${count}` })).id);
  for (const id of ids) await endedVideo(gateway, id);
  const idsSeen: string[] = [];
  let after = "";
  for (;;) {
    const page = (await (await gateway.get(`${path}?limit=2${after}`)).json()) as {
      data: Video[];
      last_id: string;
      has_more: boolean;
    };
    for (const { id } of page.data) {
      idsSeen.push(id);
      if (ids.includes(id)) expect((await remove(id)).status).toBe(200);
    }
    if (!page.has_more) break;
    after = `&after=${page.last_id}`;
  }
  expect(idsSeen).toEqual([...ids.toReversed(), ...before]);
  expect(await listed()).toEqual([...before]);
});

test("keeps the Idempotency-Key of a deleted video, so that a retry is not charged again", async () => {
  const headers = { "idempotency-key": "deleted-1" };
  const body = { ...sora, prompt: "once" };
  const video = (await (await gateway.post(path, body, { headers })).json()) as Video;
  await endedVideo(gateway, video.id);
  expect((await remove(video.id)).status).toBe(200);
  expect(await errorOf(await gateway.post(path, body, { headers }))).toMatchObject({
    status: 409,
    code: "conflict",
    param: "Idempotency-Key",
  });
});

test("answers for another workspace's video like for a missing one", async () => {
  const video = await createVideo(gateway, sora);
  await endedVideo(gateway, video.id);
  const unusedId = `video_${"0".repeat(26)}`;
  const [theirs, none] = [await errorOf(await remove(video.id, strangerKey)), await errorOf(await remove(unusedId))];
  expect({ ...theirs, message: theirs.message.replace(video.id, unusedId) }).toEqual(none);
  expect(none).toMatchObject({ status: 404, code: "task_not_found", param: "video_id" });
  expect((await gateway.get(`${path}/${video.id}`)).status).toBe(200);
});

test("keeps a video while its vendor is unreachable", async () => {
  const video = await createVideo(gateway, sora);
  await endedVideo(gateway, video.id);
  gateway.simulator.stop();
  expect(await errorOf(await remove(video.id))).toMatchObject({ status: 502, code: "upstream_unreachable" });
  expect((await gateway.get(`${path}/${video.id}`)).status).toBe(200);
});
