import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { settledTask, strangerKey, videoGateway } from "../video-tasks/video-gateway.ts";
import { png, uploadForm } from "./upload-form.ts";

let gateway: StartedGateway;
let group: string;
let asset: string;
let local: string;

beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    providers: (simulator) => [...(videoGateway.providers?.(simulator) ?? []), upstream("paints", simulator)],
    models: [{ name: "paint-test", type: "image", deployments: [{ provider: "paints", upstream_model: "up-paint" }] }],
    moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] }],
  });
  group = await create("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
  local = await create("/v1/asset-groups", { platform: "local", name: "heroes" });
  asset = await create("/v1/assets", material(group, "volcengine"));
  await settledTask(gateway, asset, `/v1/assets/${asset}?platform=volcengine`);
});
afterAll(() => gateway?.stop());

const material = (groupId: string, platform: string) => ({
  platform,
  group_id: groupId,
  url: "https://pictures.example/anna.png",
  asset_type: "Image",
  name: "anna",
});

async function create(path: string, body: object): Promise<string> {
  return ((await (await gateway.post(path, body)).json()) as { id: string }).id;
}

/** An id of the same form that nothing uses. */
const unusedId = (id: string): string => `${id.slice(0, 3)}${"0".repeat(26)}`;

async function callAsStranger(
  method: string,
  path: string,
  body: object | null = null,
): Promise<readonly [number, string]> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${strangerKey}`, "content-type": "application/json" },
    body: body === null ? null : JSON.stringify(body),
  });
  return [answer.status, (await answer.text()).replaceAll(/(as|ag)_[0-9A-Za-z]{26}/g, "$1_?")];
}

describe("answers for another workspace's id like for a missing one, without calling the library", () => {
  test.each([
    ["GET", "/v1/assets/:asset?platform=volcengine", "asset_not_found"],
    ["GET", "/v1/assets/:asset?platform=local", "asset_not_found"],
    ["DELETE", "/v1/assets/:asset", "asset_not_found"],
    ["GET", "/v1/asset-groups/:group?platform=volcengine", "asset_group_not_found"],
    ["GET", "/v1/asset-groups/:local?platform=local", "asset_group_not_found"],
    ["DELETE", "/v1/asset-groups/:group", "asset_group_not_found"],
    ["DELETE", "/v1/asset-groups/:local", "asset_group_not_found"],
  ])("%s %s", async (method, path, code) => {
    const at = (change: (id: string) => string): string =>
      path.replace(":asset", change(asset)).replace(":group", change(group)).replace(":local", change(local));
    const before = gateway.simulator.simulator.truth.list().total;
    const theirs = await callAsStranger(
      method,
      at((id) => id),
    );
    expect(theirs).toEqual(await callAsStranger(method, at(unusedId)));
    expect([theirs[0], theirs[1]]).toEqual([404, expect.stringContaining(`"code":"${code}"`)]);
    expect(gateway.simulator.simulator.truth.list().total).toBe(before);
  });

  test.each(["volcengine", "local"])("creating an asset in a group on %s", async (platform) => {
    const id = platform === "local" ? local : group;
    const before = gateway.simulator.simulator.truth.list().total;
    const theirs = await callAsStranger("POST", "/v1/assets", material(id, platform));
    expect(theirs).toEqual(await callAsStranger("POST", "/v1/assets", material(unusedId(id), platform)));
    expect([theirs[0], theirs[1]]).toEqual([404, expect.stringContaining('"code":"asset_group_not_found"')]);
    expect(gateway.simulator.simulator.truth.list().total).toBe(before);
  });

  test.each(["/v1/images/edits", "/v1/images/generations"])("sending an asset to %s", async (path) => {
    const body = (id: string) => ({ model: "paint-test", prompt: "make it red", image: `asset://${id}` });
    const before = gateway.simulator.simulator.truth.list().total;
    const theirs = await callAsStranger("POST", path, body(asset));
    expect(theirs).toEqual(await callAsStranger("POST", path, body(unusedId(asset))));
    expect([theirs[0], theirs[1]]).toEqual([404, expect.stringContaining('"code":"asset_not_found"')]);
    expect(gateway.simulator.simulator.truth.list().total).toBe(before);
  });

  test("lists neither, with any filter", async () => {
    for (const path of [
      "/v1/assets",
      `/v1/assets?group_id=${group}`,
      "/v1/assets?status=Active",
      "/v1/asset-groups",
      "/v1/asset-groups?platform=local",
    ]) {
      const [status, body] = await callAsStranger("GET", path);
      expect([status, JSON.parse(body)]).toEqual([200, { object: "list", data: [], has_more: false, next: null }]);
    }
  });

  test("still returns everything to its owner", async () => {
    for (const path of [
      `/v1/assets/${asset}?platform=volcengine`,
      `/v1/asset-groups/${group}?platform=volcengine`,
      `/v1/asset-groups/${local}?platform=local`,
    ]) {
      expect((await gateway.get(path)).status).toBe(200);
    }
  });
});

test("returns 404 when a file is uploaded into another workspace's group", async () => {
  const body = uploadForm({ group_id: local }, png(300, 300));
  const headers = { authorization: `Bearer ${strangerKey}` };
  const error = await errorOf(await fetch(`${gateway.url}/v1/assets`, { method: "POST", headers, body }));
  expect(error).toMatchObject({ status: 404, code: "asset_group_not_found" });
});
