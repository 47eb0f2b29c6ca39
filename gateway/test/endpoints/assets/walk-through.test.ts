import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, videoGateway } from "../video-tasks/video-gateway.ts";

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
type Shown = { id: string; status: string };
const mallory = { authorization: `Bearer ${malloryKey}` };

async function seenUntil<Seen>(look: () => Promise<Seen>, is: (seen: Seen) => boolean): Promise<Seen> {
  return await until(async () => {
    const seen = await look();
    return is(seen) ? seen : null;
  });
}

let group: Group;
let asset: Asset;

test("a group, an asset in it, a task that refers to it, and its video: from a URL to a clip", async () => {
  const made = await gateway.post("/v1/asset-groups", {
    platform: "volcengine",
    name: "heroes",
    description: "who is in the film",
    project_name: "default",
  });
  expect(made.status).toBe(200);
  group = (await made.json()) as Group;
  expect(group).toMatchObject({
    object: "asset_group",
    platform: "volcengine",
    name: "heroes",
    project_name: "default",
  });
  expect(group.group_id).toBe(group.id);
  const taken = await gateway.post("/v1/assets", {
    platform: "volcengine",
    group_id: group.id,
    url: "https://example.com/hero.png",
    asset_type: "Image",
    name: "hero",
  });
  expect(taken.status).toBe(200);
  asset = (await taken.json()) as Asset;
  expect(asset).toMatchObject({ object: "asset", asset_type: "Image", group_id: group.id, status: "Processing" });
  const look = async () => (await (await gateway.get(`/v1/assets/${asset.id}?platform=volcengine`)).json()) as Asset;
  expect((await seenUntil(look, ({ status }) => status !== "Processing")).status).toBe("Active");
  const task = (await (
    await gateway.post("/v1/video/tasks", { ...ask, references: [`asset://${asset.id}`] })
  ).json()) as Shown;
  expect(task.id).toStartWith("vt_");
  const sent = gateway.simulator.simulator.truth
    .list()
    .data.filter(({ path }) => path.endsWith("/contents/generations/tasks"))
    .at(-1);
  expect(sent?.body_text).toMatch(/"url":"asset:\/\/asset-[^"]+"/);
  const seen = async () => (await (await gateway.get(`/v1/video/tasks/${task.id}`)).json()) as Shown;
  expect((await seenUntil(seen, ({ status }) => !["queued", "running"].includes(status))).status).toBe("succeeded");
});

test("a picture is changed that an asset stands for, and what is sent is no reference of ours", async () => {
  const edited = await gateway.post("/v1/images/edits", {
    model: "paint-test",
    prompt: "make it red",
    image: `asset://${asset.id}`,
  });
  expect(edited.status).toBe(200);
  const sent = JSON.parse(gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "{}") as { image: string };
  expect(sent.image).toMatch(/^https?:/);
  const stolen = await gateway.post(
    "/v1/images/edits",
    { model: "paint-test", prompt: "x", image: `asset://${asset.id}` },
    { key: malloryKey },
  );
  expect(stolen.status).toBe(404);
});

test("another workspace sees nothing of it, not even by referring to it", async () => {
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
  const stolen = await gateway.post("/v1/video/tasks", { ...ask, image: `asset://${asset.id}` }, { key: malloryKey });
  expect([stolen.status, ((await stolen.json()) as { error: { code: string } }).error.code]).toEqual([
    404,
    "asset_not_found",
  ]);
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
  const lists = await Promise.all(
    ["/v1/assets", "/v1/asset-groups", "/v1/video/tasks"].map((path) => gateway.get(path, mallory)),
  );
  for (const list of lists) expect(((await list.json()) as { data: unknown[] }).data).toEqual([]);
});

test("platform is required where one thing is asked for, and a wrong one hides it", async () => {
  const none = await gateway.get(`/v1/assets/${asset.id}`);
  expect([none.status, await none.json()]).toMatchObject([
    400,
    { error: { code: "missing_required_parameter", param: "platform" } },
  ]);
  const other = await gateway.get(`/v1/assets/${asset.id}?platform=local`);
  expect([other.status, await other.json()]).toMatchObject([404, { error: { code: "asset_not_found" } }]);
});

test("what is deleted is gone, and can no longer be referred to", async () => {
  const bearer = { authorization: `Bearer ${aliceKey}` };
  const gone = await fetch(`${gateway.url}/v1/assets/${asset.id}`, { method: "DELETE", headers: bearer });
  expect([gone.status, await gone.json()]).toMatchObject([200, { id: asset.id, deleted: true }]);
  expect((await gateway.get(`/v1/assets/${asset.id}?platform=volcengine`)).status).toBe(404);
  const task = await gateway.post("/v1/video/tasks", { ...ask, image: `asset://${asset.id}` });
  expect(task.status).toBe(404);
});

test("an asset at a private address is never fetched", async () => {
  const made = (await (await gateway.post("/v1/asset-groups", { platform: "local", name: "mine" })).json()) as Group;
  const url = `${gateway.simulator.url.replace("/v1", "")}/__sim/truth`;
  const taken = await gateway.post("/v1/assets", {
    platform: "local",
    group_id: made.id,
    url,
    asset_type: "Image",
    name: "x",
  });
  const answer = (await taken.json()) as Asset & { error: { code: string } };
  if (taken.status === 200) {
    const look = async () => (await (await gateway.get(`/v1/assets/${answer.id}?platform=local`)).json()) as Asset;
    expect((await seenUntil(look, ({ status }) => status !== "Processing")).status).toBe("Failed");
  } else expect(taken.status).toBe(400);
});
