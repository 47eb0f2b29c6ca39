import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, settledTask, strangerKey, videoGateway } from "./video-gateway.ts";

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
  const group = await made("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
  const material = { platform: "volcengine", group_id: group, url: "https://pictures.example/a.png" };
  asset = await made("/v1/assets", { ...material, asset_type: "Image", name: "anna" });
  failing = await made("/v1/assets", { ...material, asset_type: "Image", name: '[[sim {"ends":"failed"}]]' });
  task = await made(path, { ...ask, prompt: 'a boat [[sim {"queued_ms":0,"running_ms":0}]]' });
  await settledTask(gateway, task);
  for (const id of [asset, failing]) await settledTask(gateway, id, `/v1/assets/${id}?platform=volcengine`);
});
afterAll(() => gateway?.stop());

async function made(path: string, body: object): Promise<string> {
  return ((await (await gateway.post(path, body)).json()) as { id: string }).id;
}

/** An id of the same form that nothing has. */
const nobodys = (id: string): string => `${id.slice(0, 3)}${"0".repeat(26)}`;

/** Status and body, with ids taken out: the answer for another's id and for nobody's must be one and the same. */
async function told(answer: Response): Promise<readonly [number, string]> {
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

describe("another workspace's id looks like one that does not exist", () => {
  test.each([
    ["GET", (id: string) => `${path}/${id}`],
    ["DELETE", (id: string) => `${path}/${id}`],
    ["GET", (id: string) => `${path}/${id}/content`],
  ])("%s %p", async (method, at) => {
    const before = upstreamCalls();
    const theirs = await told(await call(method, at(task)));
    expect(theirs).toEqual(await told(await call(method, at(nobodys(task)))));
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
  ])("a reference to an asset in %s", async (_, fields) => {
    for (const id of [asset, failing]) {
      const before = upstreamCalls();
      const theirs = await told(await call("POST", path, { ...ask, ...fields(id) }));
      expect(theirs).toEqual(await told(await call("POST", path, { ...ask, ...fields(nobodys(id)) })));
      expect([theirs[0], theirs[1]]).toEqual([404, expect.stringContaining('"code":"asset_not_found"')]);
      expect(upstreamCalls()).toBe(before);
    }
  });

  test("a task that is to be gone on from", async () => {
    const draft = (id: string) => ({ ...ask, content: [{ type: "draft_task", draft_task: { id } }] });
    const before = upstreamCalls();
    const theirs = await told(await call("POST", path, draft(task)));
    expect(theirs).toEqual(await told(await call("POST", path, draft(nobodys(task)))));
    expect(theirs[0]).toBe(404);
    // The upstream's own ids say nothing of who may use them: the account is shared.
    const [vendors] = gateway.simulator.simulator.tasks.list().data;
    expect((await call("POST", path, draft(vendors?.id ?? ""))).status).toBe(404);
    const [library] = /asset-\d+-\w+/.exec(JSON.stringify(gateway.simulator.simulator.truth.list().data)) ?? [];
    expect(library).toStartWith("asset-");
    expect((await call("POST", path, { ...ask, image: `asset://${library}` })).status).toBe(404);
    expect(upstreamCalls()).toBe(before);
  });

  test("an Idempotency-Key of another workspace is free", async () => {
    const headers = { "idempotency-key": "scene-1" };
    const ours = (await (await gateway.post(path, ask, { headers })).json()) as { id: string };
    const theirs = (await (await gateway.post(path, ask, { headers, key: strangerKey })).json()) as { id: string };
    expect(theirs.id).not.toBe(ours.id);
    const { data } = (await (await call("GET", path)).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual([theirs.id]);
  });

  test("the owner is let in everywhere", async () => {
    const headers = { authorization: `Bearer ${aliceKey}` };
    for (const at of [`${path}/${task}`, `${path}/${task}/content`]) {
      expect((await fetch(`${gateway.url}${at}`, { headers })).status).toBe(200);
    }
    expect((await gateway.post(path, { ...ask, image: `asset://${asset}` })).status).toBe(200);
    expect((await gateway.post(path, { ...ask, image: `asset://${failing}` })).status).toBe(400);
  });
});
