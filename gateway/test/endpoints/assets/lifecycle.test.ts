import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "../video-tasks/video-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghi";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: malloryKey }] }],
  });
});
afterAll(() => gateway.stop());

type Group = { id: string; group_id: string };
type Asset = { id: string; asset_id: string; status: string };
type TaskBody = { id: string; status: string };
const mallory = { authorization: `Bearer ${malloryKey}` };

async function pollUntil<Value>(read: () => Promise<Value>, matches: (value: Value) => boolean): Promise<Value> {
  return await until(async () => {
    const value = await read();
    return matches(value) ? value : null;
  });
}

let group: Group;
let asset: Asset;

test("creates a group and an asset, and a video task that refers to the asset", async () => {
  const created = await gateway.post("/v1/asset-groups", {
    platform: "volcengine",
    name: "heroes",
    description: "who is in the film",
    project_name: "default",
  });
  expect(created.status).toBe(200);
  group = (await created.json()) as Group;
  expect(group).toMatchObject({
    object: "asset_group",
    platform: "volcengine",
    name: "heroes",
    project_name: "default",
  });
  expect(group.group_id).toBe(group.id);
  const createdAsset = await gateway.post("/v1/assets", {
    platform: "volcengine",
    group_id: group.id,
    url: "https://example.com/hero.png",
    asset_type: "Image",
    name: "hero",
  });
  expect(createdAsset.status).toBe(200);
  asset = (await createdAsset.json()) as Asset;
  expect(asset).toMatchObject({ object: "asset", asset_type: "Image", group_id: group.id, status: "Processing" });
  const readAsset = async () =>
    (await (await gateway.get(`/v1/assets/${asset.id}?platform=volcengine`)).json()) as Asset;
  expect((await pollUntil(readAsset, ({ status }) => status !== "Processing")).status).toBe("Active");
  const task = (await (
    await gateway.post("/v1/video/tasks", { ...taskRequest, references: [`asset://${asset.id}`] })
  ).json()) as TaskBody;
  expect(task.id).toStartWith("vt_");
  const sent = gateway.simulator.simulator.truth
    .list()
    .data.filter(({ path }) => path.endsWith("/contents/generations/tasks"))
    .at(-1);
  expect(sent?.body_text).toMatch(/"url":"asset:\/\/asset-[^"]+"/);
  const readTask = async () => (await (await gateway.get(`/v1/video/tasks/${task.id}`)).json()) as TaskBody;
  expect((await pollUntil(readTask, ({ status }) => !["queued", "running"].includes(status))).status).toBe("succeeded");
});

test("edits the picture of an asset, sending the vendor a URL instead of our reference", async () => {
  const edited = await gateway.post("/v1/images/edits", {
    model: "paint-test",
    prompt: "make it red",
    image: `asset://${asset.id}`,
  });
  expect(edited.status).toBe(200);
  const sent = JSON.parse(gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "{}") as { image: string };
  expect(sent.image).toMatch(/^https?:/);
  const refused = await gateway.post(
    "/v1/images/edits",
    { model: "paint-test", prompt: "x", image: `asset://${asset.id}` },
    { key: malloryKey },
  );
  expect(refused.status).toBe(404);
});

test("hides everything from another workspace, also when it refers to the asset", async () => {
  for (const [path, code] of [
    [`/v1/asset-groups/${group.id}?platform=volcengine`, "asset_group_not_found"],
    [`/v1/assets/${asset.id}?platform=volcengine`, "asset_not_found"],
  ] as const) {
    const theirs = await gateway.get(path, mallory);
    const missing = await gateway.get(path.replace(/_[0-9A-Z]{26}/, "_00000000000000000000000000"), mallory);
    const bodies = [await theirs.text(), await missing.text()].map((body) =>
      body.replace(/(ag|as)_[0-9A-Z]{26}/g, "?"),
    );
    expect([theirs.status, missing.status]).toEqual([404, 404]);
    expect(bodies[0]).toBe(bodies[1] ?? "");
    expect(bodies[0]).toContain(code);
  }
  const before = gateway.simulator.simulator.truth.list().total;
  const refused = await gateway.post(
    "/v1/video/tasks",
    { ...taskRequest, image: `asset://${asset.id}` },
    { key: malloryKey },
  );
  expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
    404,
    "asset_not_found",
  ]);
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
  const lists = await Promise.all(
    ["/v1/assets", "/v1/asset-groups", "/v1/video/tasks"].map((path) => gateway.get(path, mallory)),
  );
  for (const list of lists) expect(((await list.json()) as { data: unknown[] }).data).toEqual([]);
});

test("requires the platform to read an asset, and returns 404 for another platform", async () => {
  const none = await gateway.get(`/v1/assets/${asset.id}`);
  expect([none.status, await none.json()]).toMatchObject([
    400,
    { error: { code: "missing_required_parameter", param: "platform" } },
  ]);
  const other = await gateway.get(`/v1/assets/${asset.id}?platform=local`);
  expect([other.status, await other.json()]).toMatchObject([404, { error: { code: "asset_not_found" } }]);
});

test("returns 404 for a deleted asset and for references to it", async () => {
  const bearer = { authorization: `Bearer ${aliceKey}` };
  const deleted = await fetch(`${gateway.url}/v1/assets/${asset.id}`, { method: "DELETE", headers: bearer });
  expect([deleted.status, await deleted.json()]).toMatchObject([200, { id: asset.id, deleted: true }]);
  expect((await gateway.get(`/v1/assets/${asset.id}?platform=volcengine`)).status).toBe(404);
  const task = await gateway.post("/v1/video/tasks", { ...taskRequest, image: `asset://${asset.id}` });
  expect(task.status).toBe(404);
});

test("never fetches an asset from a private address", async () => {
  const created = (await (await gateway.post("/v1/asset-groups", { platform: "local", name: "mine" })).json()) as Group;
  const url = `${gateway.simulator.url.replace("/v1", "")}/__sim/truth`;
  const createdAsset = await gateway.post("/v1/assets", {
    platform: "local",
    group_id: created.id,
    url,
    asset_type: "Image",
    name: "x",
  });
  const answer = (await createdAsset.json()) as Asset & { error: { code: string } };
  if (createdAsset.status === 200) {
    const readAsset = async () => (await (await gateway.get(`/v1/assets/${answer.id}?platform=local`)).json()) as Asset;
    expect((await pollUntil(readAsset, ({ status }) => status !== "Processing")).status).toBe("Failed");
  } else expect(createdAsset.status).toBe(400);
});
