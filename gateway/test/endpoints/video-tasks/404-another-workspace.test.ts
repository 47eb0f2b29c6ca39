import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { settledTask, strangerKey, taskRequest, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
let task: string;
let asset: string;
let failing: string;
const path = "/v1/video/tasks";

beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] }],
  });
  const group = await create("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
  const material = { platform: "volcengine", group_id: group, url: "https://pictures.example/a.png" };
  asset = await create("/v1/assets", { ...material, asset_type: "Image", name: "anna" });
  failing = await create("/v1/assets", { ...material, asset_type: "Image", name: '[[sim {"ends":"failed"}]]' });
  task = await create(path, { ...taskRequest, prompt: 'a boat [[sim {"queued_ms":0,"running_ms":0}]]' });
  await settledTask(gateway, task);
  for (const id of [asset, failing]) await settledTask(gateway, id, `/v1/assets/${id}?platform=volcengine`);
});
afterAll(() => gateway?.stop());

async function create(path: string, body: object): Promise<string> {
  return ((await (await gateway.post(path, body)).json()) as { id: string }).id;
}

/** An id of the same form that nothing uses. */
const unusedId = (id: string): string => `${id.slice(0, 3)}${"0".repeat(26)}`;

/** Status and body without ids: another workspace's id and an unused one must get the same answer. */
async function withoutIds(answer: Response): Promise<readonly [number, string]> {
  return [answer.status, (await answer.text()).replaceAll(/(vt|as|ag)_[0-9A-Za-z]{26}/g, "$1_?")];
}

function call(method: string, path: string, body: object | null = null): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${strangerKey}`, "content-type": "application/json" },
    body: body === null ? null : JSON.stringify(body),
  });
}

const upstreamCalls = (): number => gateway.simulator.simulator.truth.list().total;

describe("answers for another workspace's id like for a missing one", () => {
  test.each([
    ["GET", (id: string) => `${path}/${id}`],
    ["DELETE", (id: string) => `${path}/${id}`],
    ["GET", (id: string) => `${path}/${id}/content`],
  ])("%s %p", async (method, at) => {
    const before = upstreamCalls();
    const theirs = await withoutIds(await call(method, at(task)));
    expect(theirs).toEqual(await withoutIds(await call(method, at(unusedId(task)))));
    expect([theirs[0], theirs[1]]).toEqual([404, expect.stringContaining('"code":"task_not_found"')]);
    expect(upstreamCalls()).toBe(before);
  });

  test.each([
    ["image", (id: string) => ({ image: `asset://${id}` })],
    ["image as an object", (id: string) => ({ image: { url: `asset://${id}`, type: "image" } })],
    ["last_frame", (id: string) => ({ last_frame: `asset://${id}` })],
    ["references", (id: string) => ({ references: ["https://pictures.example/b.png", `asset://${id}`] })],
    ["references in capitals", (id: string) => ({ references: [{ url: `ASSET://${id}` }] })],
    ["content", (id: string) => ({ content: [{ type: "image_url", image_url: { url: `asset://${id}` } }] })],
    ["a vendor's field", (id: string) => ({ extra: { deep: [{ source: `asset://${id}` }] } })],
  ])("referring to an asset in %s", async (_, fields) => {
    for (const id of [asset, failing]) {
      const before = upstreamCalls();
      const theirs = await withoutIds(await call("POST", path, { ...taskRequest, ...fields(id) }));
      expect(theirs).toEqual(await withoutIds(await call("POST", path, { ...taskRequest, ...fields(unusedId(id)) })));
      expect([theirs[0], theirs[1]]).toEqual([404, expect.stringContaining('"code":"asset_not_found"')]);
      expect(upstreamCalls()).toBe(before);
    }
  });

  test("continuing from a task", async () => {
    const draft = (id: string) => ({ ...taskRequest, content: [{ type: "draft_task", draft_task: { id } }] });
    const before = upstreamCalls();
    const theirs = await withoutIds(await call("POST", path, draft(task)));
    expect(theirs).toEqual(await withoutIds(await call("POST", path, draft(unusedId(task)))));
    expect(theirs[0]).toBe(404);
    // A vendor's own id does not work either, because workspaces share the account.
    const [vendorTask] = gateway.simulator.simulator.tasks.list().data;
    expect((await call("POST", path, draft(vendorTask?.id ?? ""))).status).toBe(404);
    const [libraryAsset] = /asset-\d+-\w+/.exec(JSON.stringify(gateway.simulator.simulator.truth.list().data)) ?? [];
    expect(libraryAsset).toStartWith("asset-");
    expect((await call("POST", path, { ...taskRequest, image: `asset://${libraryAsset}` })).status).toBe(404);
    expect(upstreamCalls()).toBe(before);
  });

  test("does not share an Idempotency-Key between workspaces", async () => {
    const headers = { "idempotency-key": "scene-1" };
    const ours = (await (await gateway.post(path, taskRequest, { headers })).json()) as { id: string };
    const theirs = (await (await gateway.post(path, taskRequest, { headers, key: strangerKey })).json()) as {
      id: string;
    };
    expect(theirs.id).not.toBe(ours.id);
    const { data } = (await (await call("GET", path)).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual([theirs.id]);
  });

  test("gives the owner access everywhere", async () => {
    const headers = { authorization: `Bearer ${aliceKey}` };
    for (const at of [`${path}/${task}`, `${path}/${task}/content`]) {
      expect((await fetch(`${gateway.url}${at}`, { headers })).status).toBe(200);
    }
    expect((await gateway.post(path, { ...taskRequest, image: `asset://${asset}` })).status).toBe(200);
    expect((await gateway.post(path, { ...taskRequest, image: `asset://${failing}` })).status).toBe(400);
  });
});
