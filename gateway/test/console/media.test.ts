import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import {
  asKeyPath,
  assetContentPath,
  type ConsoleTask,
  consoleRoutes,
  type RouteId,
  type TaskDetail,
  taskContentPath,
  urlOf,
} from "@sluice/contract";
import { createAssetStore } from "#assets/index.ts";
import { type Asset, Secret } from "#core/index.ts";
import { createDiskBlobStore } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { until } from "../../../test/until.ts";
import { codeOf, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

let fixture: MediaFixture;
let made: ConsoleTask;
beforeAll(async () => {
  fixture = await openMediaFixture();
  made = await finished(await makeTask("member", "acme", fixture.keys.members));
});
afterAll(() => fixture[Symbol.asyncDispose]());

const bytes = new TextEncoder().encode("the bytes of a picture");
const json = { "content-type": "application/json" };

async function makeTask(who: MediaUser, workspace: string, key: string, more: object = {}): Promise<string> {
  const body = JSON.stringify({ model: "clip-test", prompt: "a boat on a lake", ratio: "16:9", duration: 5, ...more });
  const path = `${asKeyPath(workspace, key)}/v1/video/tasks`;
  const answer = await fixture.as(who, path, { method: "POST", headers: json, body });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
}

async function finished(task: string): Promise<ConsoleTask> {
  return await until(async () => {
    const seen = await shown("tasks.show", { workspace: "acme", task });
    return seen.finished_at === null ? null : seen;
  });
}

async function call(who: MediaUser | null, id: RouteId, params: Record<string, string>, query: object = {}) {
  const { method } = consoleRoutes[id];
  const path = urlOf(consoleRoutes, id, { params, query } as never);
  return fixture.as(who, path, method === "GET" ? {} : { method, headers: json, body: "{}" });
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer as freely as a caller would.
type Seen = any;

async function shown(
  id: RouteId,
  params: Record<string, string>,
  query: object = {},
  who: MediaUser = "viewer",
): Promise<Seen> {
  const answer = await call(who, id, params, query);
  if (answer.status !== 200) expect(`${id}: ${answer.status} ${await answer.text()}`).toBe(`${id}: 200`);
  return answer.json();
}

async function storedAsset(workspace: string, contentType: string, more: Partial<Asset> = {}): Promise<string> {
  const store = createAssetStore({ database: fixture.control.database });
  const blobs = createDiskBlobStore({ directory: join(fixture.dataDir, "blobs"), clock: systemClock });
  const { hash } = await blobs.put(new Blob([bytes]).stream(), 1_024, new AbortController().signal);
  const { ids, clock, controlStore } = fixture.control;
  const workspaceId = (await controlStore.workspaceNamed(workspace))?.id ?? "";
  const times = { createdAt: clock.now(), updatedAt: clock.now() };
  const groupId = ids.next("ag_");
  await store.createGroup({
    ...times,
    id: groupId,
    workspaceId,
    platform: "local",
    name: "boats",
    description: "",
    projectName: "default",
    providerId: null,
    upstreamId: null,
  });
  const id = ids.next("as_");
  await store.createAsset({
    ...times,
    id,
    workspaceId,
    groupId,
    platform: "local",
    name: "a boat",
    type: "Image",
    sourceUrl: "https://pictures.example/a.png",
    status: "Active",
    error: null,
    providerId: null,
    upstreamId: null,
    blobHash: hash,
    sizeBytes: bytes.length,
    contentType,
    dueAt: null,
    ...more,
  });
  return id;
}

test("lists a task with its names, and shows it with its body and history", async () => {
  const { data } = await shown("tasks.list", { workspace: "acme" }, { status: "succeeded", model: "clip-test" });
  expect(data.find((one: ConsoleTask) => one.id === made.id)).toMatchObject({
    workspace: { slug: "acme" },
    key: { id: fixture.keys.members, name: "key of member" },
    model: "clip-test",
    provider: "volc",
    status: "succeeded",
    progress: 100,
    prompt: "a boat on a lake",
    duration: 5,
    has_content: true,
    cost_estimated: false,
  });
  expect(made.cost_usd).toBeGreaterThan(0);
  const detail = await shown("tasks.show", { workspace: "acme", task: made.id });
  expect(detail.request).toMatchObject({ model: "clip-test", ratio: "16:9" });
  expect(detail.request_whole).toBe(true);
  expect(detail.events[0]).toMatchObject({ status: "accepted" });
  expect(detail.events.at(-1)).toMatchObject({ status: "succeeded", note: null });
  const notes = detail.events.map(({ note }: TaskDetail["events"][number]) => note);
  expect(notes).toContainEqual({ code: "sent", params: { provider: expect.any(String), model: expect.any(String) } });
  expect(notes).toContainEqual({ code: "accepted", params: {} });
  expect(detail.deliveries).toEqual([]);
});

test("an administrator pages through the tasks of every workspace, others only through their own", async () => {
  const other = await makeTask("stranger", "other", fixture.keys.others);
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await shown("tasks.list", { workspace: "-" }, { limit: 1, cursor }, "administrator");
    expect(page.data.length).toBeLessThanOrEqual(1);
    expect([page.total, page.more_than_total]).toEqual([2, false]);
    seen.push(...page.data.map((one: ConsoleTask) => `${one.workspace.slug} ${one.id}`));
    cursor = page.next;
  }
  expect(seen).toEqual([`other ${other}`, `acme ${made.id}`]);
  const open = await shown("tasks.list", { workspace: "-" }, { key: fixture.keys.members }, "administrator");
  expect(open.data.map((one: ConsoleTask) => one.id)).toEqual([made.id]);
  expect(await codeOf(await call("owner", "tasks.list", { workspace: "-" }))).toBe("403 forbidden");
  expect(await codeOf(await call("administrator", "tasks.show", { workspace: "-", task: made.id }))).toBe(
    "400 invalid_request",
  );
  const mine = await shown("tasks.list", { workspace: "acme" });
  expect(mine.data.map((one: ConsoleTask) => one.id)).toEqual([made.id]);
  expect(mine.total).toBe(1);
  expect((await shown("tasks.list", { workspace: "acme" }, { status: "failed" })).total).toBe(0);
  expect(await codeOf(await call("owner", "tasks.show", { workspace: "acme", task: other }))).toBe(
    "404 task_not_found",
  );
  expect(await codeOf(await call("owner", "tasks.cancel", { workspace: "acme", task: other }))).toBe(
    "404 task_not_found",
  );
  expect(await codeOf(await fixture.as("owner", taskContentPath("acme", other)))).toBe("404 task_not_found");
});

test("a member cancels a task if the vendor supports it, with an audit row; a viewer cannot", async () => {
  const path = `${asKeyPath("acme", fixture.keys.members)}/v1/video/tasks`;
  const body = JSON.stringify({ model: "clip-test", prompt: 'a slow boat [[sim {"queued_ms":600000}]]' });
  const answer = await fixture.as("member", path, { method: "POST", headers: json, body });
  const { id } = (await answer.json()) as { id: string };
  expect(await codeOf(await call("viewer", "tasks.cancel", { workspace: "acme", task: id }))).toBe("403 forbidden");
  const cancelled = await shown("tasks.cancel", { workspace: "acme", task: id }, {}, "member");
  expect(cancelled).toMatchObject({ id, status: "cancelled", has_content: false });
  expect((await fixture.audit()).at(-1)).toEqual({
    actor: "member@example.com",
    action: "cancel",
    object: `video task ${id}`,
  });
  expect(await codeOf(await fixture.as("viewer", taskContentPath("acme", id)))).toBe("404 not_found");
  expect(await codeOf(await call("member", "tasks.cancel", { workspace: "acme", task: id }))).toBe("409 conflict");
});

test("plays a task's video inline with range requests, for viewers and above", async () => {
  const path = taskContentPath("acme", made.id);
  const whole = await fixture.as("viewer", path);
  const video = await whole.bytes();
  expect(whole.status).toBe(200);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    "content-type": "video/mp4",
    "content-disposition": `inline; filename="${made.id}.mp4"`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-cache",
  });
  const part = await fixture.as("viewer", path, { headers: { range: "bytes=4-7" } });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 4-7/${video.length}`]);
  expect(await part.bytes()).toEqual(video.slice(4, 8));
  const head = await fixture.as("viewer", path, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(await codeOf(await fixture.as("stranger", path))).toBe("404 not_found");
  expect(await codeOf(await fixture.as(null, path))).toBe("401 not_signed_in");
  expect(await codeOf(await fixture.as("viewer", taskContentPath("-", made.id)))).toBe("403 forbidden");
  expect(await codeOf(await fixture.as("administrator", taskContentPath("-", made.id)))).toBe("400 invalid_request");
});

test("a task of a personal key is visible to its owner and admins only; for others it and its video return 404", async () => {
  const { control, users, keys } = fixture;
  const one = await control.controlStore.key(null, keys.owners);
  if (one === null) throw new Error("the fixture has no key of the owner");
  const wanted = {
    name: "own key of owner",
    secret: new Secret("sk-own-of-owner-0123456789abcdefghij"),
    createdBy: users.owner.id,
    owner: users.owner.id,
  };
  const own = await control.controlStore.addKey(one.workspace.id, wanted, { actor: "test", ip: null });
  const id = await makeTask("owner", "acme", own.id);
  const idsSeenBy = async (who: MediaUser) =>
    (await shown("tasks.list", { workspace: "acme" }, {}, who)).data.map((task: ConsoleTask) => task.id);
  const place = { workspace: "acme", task: id };
  for (const who of ["owner", "admin"] as const) {
    expect(await idsSeenBy(who)).toContain(id);
    expect((await shown("tasks.show", place, {}, who)).key.name).toBe("own key of owner");
  }
  for (const who of ["viewer", "member"] as const) {
    const seen = await idsSeenBy(who);
    expect([seen.includes(id), seen.includes(made.id)]).toEqual([false, true]);
    expect(await codeOf(await call(who, "tasks.show", place))).toBe("404 task_not_found");
    expect(await codeOf(await fixture.as(who, taskContentPath("acme", id)))).toBe("404 task_not_found");
  }
  expect(await codeOf(await call("member", "tasks.cancel", place))).toBe("404 task_not_found");
});

test("shows an asset's bytes inline only for known media types, and checks access each time", async () => {
  const asset = await storedAsset("acme", "image/png");
  const path = assetContentPath("acme", asset);
  const whole = await fixture.as("viewer", path);
  expect([whole.status, await whole.text()]).toEqual([200, "the bytes of a picture"]);
  expect(whole.headers.get("content-disposition")).toBe(`inline; filename="${asset}.png"`);
  const etag = whole.headers.get("etag") ?? "";
  const again = await fixture.as("viewer", path, { headers: { "if-none-match": `"x", ${etag}` } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const part = await fixture.as("viewer", path, { headers: { range: "bytes=-7" } });
  expect([part.status, await part.text()]).toEqual([206, "picture"]);
  const beyond = await fixture.as("viewer", path, { headers: { range: "bytes=99-" } });
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${bytes.length}`]);
  const page = await fixture.as("viewer", assetContentPath("acme", await storedAsset("acme", "text/html")));
  expect([page.headers.get("content-type"), page.headers.get("content-disposition")]).toEqual([
    "application/octet-stream",
    expect.stringMatching(/^attachment; filename="as_\w+\.bin"$/),
  ]);
});

test("shows no bytes for an asset stored elsewhere or in another workspace", async () => {
  const library = { platform: "volcengine" as const, blobHash: null, contentType: null };
  const libraryAsset = await storedAsset("acme", "image/png", library);
  expect(await codeOf(await fixture.as("viewer", assetContentPath("acme", libraryAsset)))).toBe("404 not_found");
  const gone = await storedAsset("acme", "image/png", { blobHash: "0".repeat(64) });
  expect(await codeOf(await fixture.as("viewer", assetContentPath("acme", gone)))).toBe("404 not_found");
  const others = await storedAsset("other", "image/png");
  expect(await codeOf(await fixture.as("owner", assetContentPath("acme", others)))).toBe("404 asset_not_found");
  const { data } = await shown("assets.list", { workspace: "acme" });
  const row = (id: string) => data.find((one: { id: string }) => one.id === id);
  expect(row(libraryAsset)).toMatchObject({ platform: "volcengine", has_content: false });
  expect(row(others)).toBeUndefined();
});

test("members remove assets and groups of their workspace, with an audit row for each", async () => {
  const asset = await storedAsset("acme", "image/png");
  const others = await storedAsset("other", "image/png");
  const { data } = await shown("assets.list", { workspace: "acme" });
  const group = data.find((one: { id: string }) => one.id === asset).group_id;
  const filtered = await shown("assets.list", { workspace: "acme" }, { group });
  expect(filtered.data.map((one: { id: string }) => one.id)).toEqual([asset]);
  expect(filtered.total).toBe(1);
  const params = { workspace: "acme", asset, group };
  expect(await codeOf(await call("viewer", "assets.remove", params))).toBe("403 forbidden");
  expect(await codeOf(await call("member", "assets.remove", { ...params, asset: others }))).toBe("404 asset_not_found");
  await shown("assets.remove", params, {}, "member");
  expect(await codeOf(await call("member", "assets.remove", params))).toBe("404 asset_not_found");
  const groups = await shown("assetGroups.list", { workspace: "acme" }, { limit: 100 });
  expect(groups.data.map((one: { id: string }) => one.id)).toContain(group);
  expect(await codeOf(await call("stranger", "assetGroups.remove", { workspace: "other", group }))).toBe(
    "404 asset_group_not_found",
  );
  await shown("assetGroups.remove", params, {}, "member");
  const rows = await fixture.audit();
  expect(rows.slice(-2).map(({ actor, action, object }) => `${actor} ${action} ${object}`)).toEqual([
    `member@example.com remove asset ${asset}`,
    `member@example.com remove asset group ${group}`,
  ]);
  for (const id of ["assets.list", "assetGroups.list"] as const) {
    expect(await codeOf(await call("administrator", id, { workspace: "-" }))).toBe("400 invalid_request");
    expect(await codeOf(await call("newcomer", id, { workspace: "acme" }))).toBe("404 not_found");
    expect(await codeOf(await call("viewer", id, { workspace: "acme" }, { cursor: "!" }))).toBe("400 invalid_request");
  }
});

test("replaces a large inline picture in a stored body by a note, and marks the body as incomplete", async () => {
  const id = await makeTask("member", "acme", fixture.keys.members, {
    image: `data:image/png;base64,${"A".repeat(1_000_000)}`,
  });
  const detail = await shown("tasks.show", { workspace: "acme", task: id });
  expect(detail.request).toEqual({
    model: "clip-test",
    prompt: "a boat on a lake",
    ratio: "16:9",
    duration: 5,
    image: "(inline material, image/png, 1000000 bytes, not kept)",
  });
  expect(detail.request_whole).toBe(false);
});
