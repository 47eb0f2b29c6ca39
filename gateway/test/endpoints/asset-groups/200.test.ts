import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

const path = "/v1/asset-groups";
type Group = { readonly id: string; readonly created_at: number };
type Page = { readonly data: readonly Group[]; readonly has_more: boolean; readonly next: string | null };
const read = async <T>(answer: Response | Promise<Response>): Promise<T> => (await (await answer).json()) as T;

test("returns every field of the contract, for a local group and for a library's group", async () => {
  for (const platform of ["local", "volcengine"]) {
    const fields = { platform, name: "heroes", description: "who is\nin the film", project_name: "default" };
    const before = Math.floor(Date.now() / 1_000);
    const created = await gateway.post(path, { ...fields, unknown_field: [1] });
    expect(created.headers.get("x-request-id")).toStartWith("req_");
    const group = await read<Group>(created);
    expect(group).toEqual({
      ...fields,
      id: expect.stringMatching(/^ag_[0-9A-Z]{26}$/),
      group_id: group.id,
      object: "asset_group",
      created_at: expect.any(Number),
      updated_at: group.created_at,
    } as never);
    expect(group.created_at).toBeWithin(before, Math.ceil(Date.now() / 1_000) + 1);
    expect(await read<Group>(gateway.get(`${path}/${group.id}?platform=${platform}`))).toEqual(group);
  }
});

test("fills in defaults for optional fields", async () => {
  expect(await read(gateway.post(path, { platform: "local", name: "x", description: null }))).toMatchObject({
    description: "",
    project_name: "default",
  });
});

test("sends the project and the texts to the library, signed with the account's key", async () => {
  await gateway.post(path, {
    platform: "volcengine",
    name: "monsters",
    description: "the others",
    project_name: "film",
  });
  const sent = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(sent).toMatchObject({ dialect: "ark-assets", signature_verified: true, status: 200 });
  expect(JSON.parse(sent?.body_text ?? "")).toMatchObject({
    Name: "monsters",
    Description: "the others",
    GroupType: "AIGC",
    ProjectName: "film",
  });
});

test("lists groups newest first, each once across pages, and filters by platform", async () => {
  for (let n = 0; n < 5; n++) await gateway.post(path, { platform: "local", name: `shot ${n}` });
  const complete = await read<Page>(gateway.get(`${path}?limit=100`));
  expect([complete.has_more, complete.next]).toEqual([false, null]);
  const listed: Group[] = [];
  let after = "";
  do {
    const page = await read<Page>(gateway.get(`${path}?limit=2${after}`));
    listed.push(...page.data);
    after = page.next === null ? "" : `&after=${encodeURIComponent(page.next)}`;
  } while (after !== "");
  expect(listed).toEqual([...complete.data]);
  const times = listed.map((group) => group.created_at);
  expect(times).toEqual(times.toSorted((one, other) => other - one));
  const volcengineGroups = await read<Page>(gateway.get(`${path}?platform=volcengine&limit=100`));
  expect(volcengineGroups.data.length).toBe(2);
});

test("deletes a group with all its assets, here and in the library", async () => {
  const headers = { authorization: `Bearer ${aliceKey}` };
  const group = await read<Group>(gateway.post(path, { platform: "volcengine", name: "extras" }));
  const asset = {
    platform: "volcengine",
    group_id: group.id,
    url: "https://pictures.example/a.png",
    asset_type: "Image",
  };
  const { id } = await read<Group>(gateway.post("/v1/assets", { ...asset, name: "anna" }));
  const deleted = await fetch(`${gateway.url}${path}/${group.id}`, { method: "DELETE", headers });
  expect([deleted.status, await deleted.json()]).toEqual([
    200,
    { id: group.id, object: "asset_group.deleted", deleted: true },
  ]);
  expect((await gateway.get(`/v1/assets/${id}?platform=volcengine`)).status).toBe(404);
  const actions = gateway.simulator.simulator.truth.list().data.map(({ model }) => model);
  expect(actions.at(-1)).toBe("DeleteAssetGroup");
  expect((await fetch(`${gateway.url}${path}/${group.id}`, { method: "DELETE", headers })).status).toBe(404);
});
