import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, call, endedVideo, made, path, strangerKey, videoGateway } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, models: ["clip-test"] }],
    models: [
      ...(videoGateway.models ?? []),
      { name: "clip-secret", type: "video", deployments: [{ provider: "volc", upstream_model: "ep-2" }] },
    ],
    moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] }],
  });
});
afterAll(() => gateway.stop());

test("a model that does not exist and one that is not granted look alike", async () => {
  const [missing, secret] = [
    await errorOf(await gateway.post(path, { ...ask, model: "clip-nobody" })),
    await errorOf(await gateway.post(path, { ...ask, model: "clip-secret" })),
  ];
  expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  expect(secret).toEqual({ ...missing, message: missing.message.replace("clip-nobody", "clip-secret") });
  // OpenAI's usual one, which this gateway has not.
  const { model: _, ...rest } = ask;
  expect((await errorOf(await gateway.post(path, rest))).message).toContain('"sora-2"');
});

test.each(["video_0", "task_1", "video_%C3%A9", "VIDEO_01", `video_${"0".repeat(65)}`, "video_vt_01", "cgt-1"])(
  "%s is no video",
  async (id) => {
    for (const at of [`${path}/${id}`, `${path}/${id}/content`]) {
      const told = await errorOf(await gateway.get(at));
      expect(told).toMatchObject({ status: 404, code: "task_not_found", param: "video_id" });
    }
  },
);

test("another workspace's video looks like one that there is not, by either of its names and as a place in a list", async () => {
  const { id } = await made(gateway, ask);
  const nobodys = `video_${"0".repeat(26)}`;
  const before = gateway.simulator.simulator.truth.list().total;
  for (const [theirs, none] of [
    [id, nobodys],
    [id.replace("video_", "vt_"), nobodys.replace("video_", "vt_")],
  ] as const) {
    for (const at of [(one: string) => one, (one: string) => `${one}/content`]) {
      const [seen, missing] = [
        await call(gateway, "GET", `${path}/${at(theirs)}`, strangerKey),
        await call(gateway, "GET", `${path}/${at(none)}`, strangerKey),
      ];
      expect([seen.status, (await seen.text()).replaceAll(theirs, none)]).toEqual([404, await missing.text()]);
    }
  }
  const place = await call(gateway, "GET", `${path}?after=${id}`, strangerKey);
  expect(await errorOf(place)).toMatchObject({ status: 400, param: "after" });
  const listed = (await (await call(gateway, "GET", path, strangerKey)).json()) as { data: unknown[] };
  expect(listed.data).toEqual([]);
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});

test("a video that is not made yet has no content, and one whose link has expired has none any more", async () => {
  const waiting = await made(gateway, { ...ask, prompt: 'a boat [[sim {"running_ms":3600000}]]' });
  const told = await errorOf(await gateway.get(`${path}/${waiting.id}/content`));
  expect(told).toMatchObject({ status: 404, code: "not_found" });
  expect(told.message).toContain("not finished");
  const short = await made(gateway, { ...ask, prompt: 'a boat [[sim {"url_ms":0}]]' });
  await endedVideo(gateway, short.id);
  const gone = await errorOf(await gateway.get(`${path}/${short.id}/content`));
  expect(gone).toMatchObject({ status: 404, code: "not_found" });
});

test("a path below a video that is not there is not found", async () => {
  for (const at of ["video_01/", "video_01/frames", "video_01/content/1", "", "characters/a/b"]) {
    expect(await errorOf(await gateway.get(`${path}/${at}`))).toMatchObject({ status: 404 });
  }
});
