import { expect, test } from "bun:test";
import { assetAnswer, groupAnswer } from "#assets/index.ts";
import { bounds } from "#core/index.ts";
import { acme, arkAccount, assetCall, groupCall, never, openFixture, other, thrownBy } from "./fixture.ts";
import * as media from "./media.ts";

test("returns a group in the documented format, with defaults filled in", async () => {
  await using fixture = await openFixture();
  const group = await fixture.assets.createGroup(...groupCall({ name: "Anna 安娜", description: "Our\nlead" }));
  const now = fixture.clock.now() / 1_000;
  expect(groupAnswer(group)).toEqual({
    id: group.id,
    group_id: group.id,
    object: "asset_group",
    platform: "local",
    name: "Anna 安娜",
    description: "Our\nlead",
    project_name: "default",
    created_at: now,
    updated_at: now,
  });
  expect(group.id).toStartWith("ag_");
  expect(await fixture.assets.group(acme, group.id, "local")).toEqual(group);
});

test("returns an asset in the documented format; its URL is our link once its bytes are stored", async () => {
  await using fixture = await openFixture();
  fixture.publicUrl = "https://ai.example.com/";
  const groupId = await fixture.localGroup();
  const url = "https://a.example/x.png";
  const picture = media.png({ width: 800, height: 800 });
  fixture.web.page(url, picture);
  const made = await fixture.assets.createAsset(...assetCall({ groupId, url }));
  const now = fixture.clock.now() / 1_000;
  const begun = {
    id: made.id,
    asset_id: made.id,
    object: "asset",
    platform: "local",
    group_id: groupId,
    name: "Anna",
    asset_type: "Image",
    url,
    status: "Processing",
    error: null,
    size_bytes: null,
    content_type: null,
    created_at: now,
    updated_at: now,
  };
  expect(made.id).toStartWith("as_");
  expect(assetAnswer(made, fixture.assets.urlOf(made))).toEqual(begun);
  const settled = await fixture.settled(groupId, url);
  expect(assetAnswer(settled, fixture.assets.urlOf(settled))).toMatchObject({
    status: "Active",
    size_bytes: picture.length,
    content_type: "image/png",
    url: expect.stringMatching(
      /^https:\/\/ai\.example\.com\/v1\/blobs\/[0-9a-f]{64}\?type=image%2Fpng&expires=\d+&signature=/,
    ),
  });
  fixture.publicUrl = null;
  expect(fixture.assets.urlOf(settled)).toBe(url);
});

const missing = { code: "missing_required_parameter", status: 400 };
const invalid = { code: "invalid_request", status: 400 };

test.each([
  ["no platform", { platform: undefined }, { ...missing, param: "platform" }],
  ["an empty platform", { platform: "" }, { ...missing, param: "platform" }],
  ["a platform in other case", { platform: "Local" }, { code: "not_found", status: 404 }],
  ["a number as platform", { platform: 7 }, { code: "not_found", status: 404 }],
  ["no name", { name: null }, { ...missing, param: "name" }],
  ["a name too long", { name: "x".repeat(65) }, { ...invalid, param: "name" }],
  ["a blank name", { name: "  " }, { ...invalid, param: "name" }],
  ["a control character in its name", { name: "a\u0000b" }, { ...invalid, param: "name" }],
  ["an object as name", { name: { toString: "x" } }, { ...invalid, param: "name" }],
  ["a description too long", { description: "x".repeat(301) }, { ...invalid, param: "description" }],
  ["a number as description", { description: 3 }, { ...invalid, param: "description" }],
  ["a project name too long", { projectName: "x".repeat(65) }, { ...invalid, param: "project_name" }],
  ["a platform that no provider has", { platform: "volcengine" }, { ...invalid, param: "platform" }],
])("refuses a group with %s and names the field", async (_what, changes, failure) => {
  await using fixture = await openFixture();
  expect(await thrownBy(fixture.assets.createGroup(...groupCall(changes)))).toMatchObject(failure);
  expect((await fixture.assets.groups(acme, null, null, 10)).groups).toEqual([]);
});

test.each([
  ["no platform", { platform: null }, { ...missing, param: "platform" }],
  ["an unknown platform", { platform: "cloud" }, { code: "not_found" }],
  ["a platform other than its group's", { platform: "volcengine" }, { code: "asset_group_not_found", status: 404 }],
  ["no group", { groupId: "" }, { ...missing, param: "group_id" }],
  ["an unknown group", { groupId: "ag_none" }, { code: "asset_group_not_found" }],
  ["another workspace's group", { workspaceId: other }, { code: "asset_group_not_found" }],
  ["no type", { type: undefined }, { ...missing, param: "asset_type" }],
  ["a type in other case", { type: "image" }, { ...invalid, param: "asset_type" }],
  ["an unknown type", { type: "Text" }, { ...invalid, param: "asset_type" }],
  ["no url", { url: undefined }, { ...missing, param: "url" }],
  ["a list as url", { url: ["https://a.example/x"] }, { ...invalid, param: "url" }],
  ["a url too long", { url: `https://a.example/${"x".repeat(bounds.urlBytesMax)}` }, { ...invalid, param: "url" }],
  ["a name too long", { name: "x".repeat(65) }, { ...invalid, param: "name" }],
  ["a disconnected caller", { signal: AbortSignal.abort() }, { code: "client_closed" }],
])("refuses an asset with %s and names the field", async (_what, changes, failure) => {
  await using fixture = await openFixture();
  const groupId = await fixture.localGroup();
  expect(await thrownBy(fixture.assets.createAsset(...assetCall({ groupId, ...changes })))).toMatchObject(failure);
  expect((await fixture.assets.assets(acme, { platform: null, groupId: null, status: null }, null, 10)).assets).toEqual(
    [],
  );
});

test("counts names in characters, and an asset needs no name", async () => {
  await using fixture = await openFixture();
  const group = await fixture.assets.createGroup(
    ...groupCall({ name: "😀".repeat(64), description: "😀".repeat(300) }),
  );
  const made = await fixture.assets.createAsset(...assetCall({ groupId: group.id, name: undefined }));
  expect(made.name).toBe("");
});

test("requests must match the platform; a wrong or unknown platform returns 404", async () => {
  await using fixture = await openFixture();
  const groupId = await fixture.localGroup();
  const { id } = await fixture.assets.createAsset(...assetCall({ groupId }));
  for (const platform of ["volcengine", "nowhere"]) {
    expect(await thrownBy(fixture.assets.group(acme, groupId, platform))).toMatchObject({
      code: "asset_group_not_found",
    });
    expect(await thrownBy(fixture.assets.asset(acme, id, platform))).toMatchObject({ code: "asset_not_found" });
  }
  expect((await fixture.assets.asset(acme, id, "local")).id).toBe(id);
});

test("things of another workspace look exactly like missing ones, in every request", async () => {
  await using fixture = await openFixture();
  const groupId = await fixture.localGroup();
  const { id } = await fixture.assets.createAsset(...assetCall({ groupId }));
  const { assets } = fixture;
  const account = arkAccount("ark");
  const asks: readonly ((workspaceId: string, ids: readonly [string, string]) => Promise<unknown>)[] = [
    (workspaceId, [group]) => assets.group(workspaceId, group, "local"),
    (workspaceId, [, asset]) => assets.asset(workspaceId, asset, "local"),
    (workspaceId, [group]) => assets.deleteGroup(workspaceId, group, never),
    (workspaceId, [, asset]) => assets.deleteAsset(workspaceId, asset, never),
    (workspaceId, [group]) => assets.createAsset(...assetCall({ workspaceId, groupId: group })),
    (workspaceId, [, asset]) => assets.resolve(workspaceId, asset, account),
    (workspaceId, [, asset]) => assets.holders(workspaceId, [asset]),
  ];
  const errorText = (thrown: unknown, ids: readonly string[]): string => {
    const { code, message } = Object(thrown);
    return ids.reduce((text, one) => text.replaceAll(one, "…"), `${code} ${message}`);
  };
  for (const ask of asks) {
    const foreign = errorText(await thrownBy(ask(other, [groupId, id])), [groupId, id]);
    const absent = errorText(await thrownBy(ask(other, ["ag_none", "as_none"])), ["ag_none", "as_none"]);
    expect(foreign).toContain("not_found");
    expect(foreign).toBe(absent);
  }
  expect((await assets.groups(other, null, null, 10)).groups).toEqual([]);
  expect((await assets.assets(other, { platform: null, groupId, status: null }, null, 10)).assets).toEqual([]);
  expect((await fixture.row(id)).id).toBe(id);
  expect(fixture.web.requests).toEqual([]);
});

test("filters and pages lists, newest first, each item once", async () => {
  await using fixture = await openFixture();
  const groupId = await fixture.localGroup();
  const otherGroup = await fixture.localGroup();
  const made: string[] = [];
  for (let i = 0; i < 7; i++) {
    fixture.clock.advance(1_000);
    made.push((await fixture.assets.createAsset(...assetCall({ groupId, name: `n${i}` }))).id);
  }
  await fixture.assets.createAsset(...assetCall({ groupId: otherGroup }));
  const seen: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const filter = { platform: "local", groupId, status: "Processing" };
    const page = await fixture.assets.assets(acme, filter, cursor, 3);
    expect(page.assets.length).toBeLessThanOrEqual(3);
    seen.push(...page.assets.map(({ id }) => id));
    cursor = page.next;
    if (cursor === null) break;
  }
  expect(seen).toEqual(made.toReversed());
  expect((await fixture.assets.groups(acme, "local", null, 10)).groups).toHaveLength(2);
  expect((await fixture.assets.groups(acme, "byteplus", null, 10)).groups).toEqual([]);
  expect(await thrownBy(fixture.assets.groups(acme, "nowhere", null, 10))).toMatchObject({ code: "not_found" });
  const wrong = { platform: null, groupId: null, status: "active" };
  expect(await thrownBy(fixture.assets.assets(acme, wrong, null, 10))).toMatchObject({ ...invalid, param: "status" });
});
