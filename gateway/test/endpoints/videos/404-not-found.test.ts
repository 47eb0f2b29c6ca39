import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { call, createVideo, endedVideo, path, strangerKey, videoGateway, videoRequest } from "./videos-gateway.ts";

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

test("answers the same for a missing model and for one that the key may not use", async () => {
  const [missing, secret] = [
    await errorOf(await gateway.post(path, { ...videoRequest, model: "clip-missing" })),
    await errorOf(await gateway.post(path, { ...videoRequest, model: "clip-secret" })),
  ];
  expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  expect(secret).toEqual({ ...missing, message: missing.message.replace("clip-missing", "clip-secret") });
  // OpenAI's default model, which this gateway does not have.
  const { model: _, ...rest } = videoRequest;
  expect((await errorOf(await gateway.post(path, rest))).message).toContain('"sora-2"');
});

test.each(["video_0", "task_1", "video_%C3%A9", "VIDEO_01", `video_${"0".repeat(65)}`, "video_vt_01", "cgt-1"])(
  "returns 404 for the invalid video id %s",
  async (id) => {
    for (const at of [`${path}/${id}`, `${path}/${id}/content`]) {
      const error = await errorOf(await gateway.get(at));
      expect(error).toMatchObject({ status: 404, code: "task_not_found", param: "video_id" });
    }
  },
);

test("answers for another workspace's video like for a missing one, by both ids and as a list cursor", async () => {
  const { id } = await createVideo(gateway, videoRequest);
  const unusedId = `video_${"0".repeat(26)}`;
  const before = gateway.simulator.simulator.truth.list().total;
  for (const [theirs, none] of [
    [id, unusedId],
    [id.replace("video_", "vt_"), unusedId.replace("video_", "vt_")],
  ] as const) {
    for (const at of [(one: string) => one, (one: string) => `${one}/content`]) {
      const [another, missing] = [
        await call(gateway, "GET", `${path}/${at(theirs)}`, strangerKey),
        await call(gateway, "GET", `${path}/${at(none)}`, strangerKey),
      ];
      expect([another.status, (await another.text()).replaceAll(theirs, none)]).toEqual([404, await missing.text()]);
    }
  }
  const place = await call(gateway, "GET", `${path}?after=${id}`, strangerKey);
  expect(await errorOf(place)).toMatchObject({ status: 400, param: "after" });
  const listed = (await (await call(gateway, "GET", path, strangerKey)).json()) as { data: unknown[] };
  expect(listed.data).toEqual([]);
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});

test("returns 404 for the content of an unfinished video and of one whose link has expired", async () => {
  const waiting = await createVideo(gateway, { ...videoRequest, prompt: 'a boat [[sim {"running_ms":3600000}]]' });
  const error = await errorOf(await gateway.get(`${path}/${waiting.id}/content`));
  expect(error).toMatchObject({ status: 404, code: "not_found" });
  expect(error.message).toContain("not finished");
  const short = await createVideo(gateway, { ...videoRequest, prompt: 'a boat [[sim {"url_ms":0}]]' });
  await endedVideo(gateway, short.id);
  const expired = await errorOf(await gateway.get(`${path}/${short.id}/content`));
  expect(expired).toMatchObject({ status: 404, code: "not_found" });
});

test("returns 404 for unknown paths below a video", async () => {
  for (const at of ["video_01/", "video_01/frames", "video_01/content/1", "", "characters/a/b"]) {
    expect(await errorOf(await gateway.get(`${path}/${at}`))).toMatchObject({ status: 404 });
  }
});
