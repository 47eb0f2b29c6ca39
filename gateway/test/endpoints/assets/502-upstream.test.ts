import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { settledTask, videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  group = ((await (await gateway.post("/v1/asset-groups", groupFields)).json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

const groupFields = { platform: "volcengine", name: "heroes" };
const asset = () => ({
  platform: "volcengine",
  group_id: group,
  url: "https://pictures.example/anna.png",
  asset_type: "Image",
  name: "anna",
});
const failNext = (model: string, script: object): void => {
  gateway.simulator.simulator.addPreset({ script, count: 1, model });
};
const remove = (path: string): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { method: "DELETE", headers: { authorization: `Bearer ${aliceKey}` } });

test("returns 502 without naming a key when the library fails or rejects our keys", async () => {
  for (const script of [{ status: 500 }, { status: 401, error_code: "InvalidAccessKey" }, { ark_secret: "another" }]) {
    failNext("CreateAsset", script);
    const error = await errorOf(await gateway.post("/v1/assets", asset()));
    expect(error).toMatchObject({ status: 502, code: "upstream_error" });
    expect(error.message).toContain("volcengine");
    expect(error.message).not.toContain("AKTESTEXAMPLE");
  }
  failNext("CreateAssetGroup", { status: 500 });
  expect(await errorOf(await gateway.post("/v1/asset-groups", groupFields))).toMatchObject({ status: 502 });
  const lists = await Promise.all(["/v1/assets", "/v1/asset-groups"].map((path) => gateway.get(path)));
  const counts = await Promise.all(lists.map(async (list) => ((await list.json()) as { data: object[] }).data.length));
  expect(counts).toEqual([0, 1]);
});

test("returns 502 or 504 when the library's answer is lost", async () => {
  failNext("CreateAsset", { answer_lost: "cut" });
  const error = await errorOf(await gateway.post("/v1/assets", asset()));
  expect([502, 504]).toContain(error.status);
});

test("keeps a processing asset unchanged while the library fails", async () => {
  const created = (await (await gateway.post("/v1/assets", asset())).json()) as { id: string };
  failNext("GetAsset", { status: 500 });
  const path = `/v1/assets/${created.id}?platform=volcengine`;
  expect(await (await gateway.get(path)).json()).toMatchObject({ status: "Processing", error: null });
  expect(await settledTask(gateway, created.id, path)).toMatchObject({ status: "Active" });
});

test("keeps an asset or a group that the library fails to delete", async () => {
  const created = (await (await gateway.post("/v1/assets", asset())).json()) as { id: string };
  failNext("DeleteAsset", { status: 500 });
  expect(await errorOf(await remove(`/v1/assets/${created.id}`))).toMatchObject({ status: 502 });
  failNext("DeleteAssetGroup", { status: 500 });
  expect(await errorOf(await remove(`/v1/asset-groups/${group}`))).toMatchObject({ status: 502 });
  expect((await gateway.get(`/v1/assets/${created.id}?platform=volcengine`)).status).toBe(200);
  expect((await remove(`/v1/asset-groups/${group}`)).status).toBe(200);
  expect((await gateway.get(`/v1/assets/${created.id}?platform=volcengine`)).status).toBe(404);
});
