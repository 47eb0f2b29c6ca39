import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { settledTask, videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  group = ((await (await gateway.post("/v1/asset-groups", groupAsked)).json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

const groupAsked = { platform: "volcengine", name: "heroes" };
const asset = () => ({
  platform: "volcengine",
  group_id: group,
  url: "https://pictures.example/anna.png",
  asset_type: "Image",
  name: "anna",
});
const fails = (model: string, script: object): void => {
  gateway.simulator.simulator.addPreset({ script, count: 1, model });
};
const remove = (path: string): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { method: "DELETE", headers: { authorization: `Bearer ${aliceKey}` } });

test("a library that fails, or does not know our keys, is an upstream's failure and names no key", async () => {
  for (const script of [{ status: 500 }, { status: 401, error_code: "InvalidAccessKey" }, { ark_secret: "another" }]) {
    fails("CreateAsset", script);
    const told = await errorOf(await gateway.post("/v1/assets", asset()));
    expect(told).toMatchObject({ status: 502, code: "upstream_error" });
    expect(told.message).toContain("volcengine");
    expect(told.message).not.toContain("AKTESTEXAMPLE");
  }
  fails("CreateAssetGroup", { status: 500 });
  expect(await errorOf(await gateway.post("/v1/asset-groups", groupAsked))).toMatchObject({ status: 502 });
  const lists = await Promise.all(["/v1/assets", "/v1/asset-groups"].map((path) => gateway.get(path)));
  const counts = await Promise.all(lists.map(async (list) => ((await list.json()) as { data: object[] }).data.length));
  expect(counts).toEqual([0, 1]);
});

test("a library that hides what it did (no answer) is told of as unreachable", async () => {
  fails("CreateAsset", { answer_lost: "cut" });
  const told = await errorOf(await gateway.post("/v1/assets", asset()));
  expect([502, 504]).toContain(told.status);
});

test("a library that fails for a while changes nothing of an asset that it is processing", async () => {
  const made = (await (await gateway.post("/v1/assets", asset())).json()) as { id: string };
  fails("GetAsset", { status: 500 });
  const path = `/v1/assets/${made.id}?platform=volcengine`;
  expect(await (await gateway.get(path)).json()).toMatchObject({ status: "Processing", error: null });
  expect(await settledTask(gateway, made.id, path)).toMatchObject({ status: "Active" });
});

test("what the library does not delete is not deleted here", async () => {
  const made = (await (await gateway.post("/v1/assets", asset())).json()) as { id: string };
  fails("DeleteAsset", { status: 500 });
  expect(await errorOf(await remove(`/v1/assets/${made.id}`))).toMatchObject({ status: 502 });
  fails("DeleteAssetGroup", { status: 500 });
  expect(await errorOf(await remove(`/v1/asset-groups/${group}`))).toMatchObject({ status: 502 });
  expect((await gateway.get(`/v1/assets/${made.id}?platform=volcengine`)).status).toBe(200);
  expect((await remove(`/v1/asset-groups/${group}`)).status).toBe(200);
  expect((await gateway.get(`/v1/assets/${made.id}?platform=volcengine`)).status).toBe(404);
});
