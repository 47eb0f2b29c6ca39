import { afterAll, beforeAll, expect, test } from "bun:test";
import { asKeyPath, consoleRoutes, fileContentPath, type RouteId, urlOf } from "@sluice/contract";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { codeOf, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

let fixture: MediaFixture;
beforeAll(async () => {
  fixture = await openMediaFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function call(who: MediaUser, id: RouteId, params: Record<string, string>, query: object = {}) {
  const { method } = consoleRoutes[id];
  const body = method === "GET" ? {} : { body: "{}", headers: { "content-type": "application/json" } };
  return fixture.as(who, urlOf(consoleRoutes, id, { params, query } as never), { method, ...body });
}

async function list(query: object = {}, who: MediaUser = "viewer") {
  const answer = await call(who, "files.list", { workspace: "acme" }, query);
  expect(answer.status).toBe(200);
  return (await answer.json()) as {
    data: Record<string, unknown>[];
    next: string | null;
    total: number;
    total_bytes: number;
    used_bytes: number;
    quota_bytes: number;
  };
}

async function upload(key: string, purpose: string, text: string, who: MediaUser = "member"): Promise<string> {
  const body = new FormData();
  body.append("purpose", purpose);
  body.append("file", new Blob([text]), "a.txt");
  const path = `${asKeyPath("acme", key)}/v1/files`;
  const answer = await fixture.as(who, path, { method: "POST", body });
  expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
  return ((await answer.json()) as { id: string }).id;
}

test("lists a workspace's files with filters and sums, and members delete them with an audit row", async () => {
  const { members: key } = fixture.keys;
  const ids = [await upload(key, "batch", "one"), await upload(key, "vision", "three")];
  const whole = await list();
  expect(whole).toMatchObject({ total: 2, total_bytes: 8, used_bytes: 8, quota_bytes: 50e9, next: null });
  expect(whole.data).toMatchObject([
    { id: ids[1], purpose: "vision", filename: "a.txt", size_bytes: 5, expires_at: null, key: { id: key } },
    { id: ids[0], purpose: "batch", size_bytes: 3, expires_at: expect.any(Number) },
  ]);
  expect(await list({ purpose: "batch" })).toMatchObject({ total: 1, total_bytes: 3, data: [{ id: ids[0] }] });
  expect(await list({ key: "key_none" })).toMatchObject({ total: 0, total_bytes: 0, data: [] });
  const first = await list({ limit: 1 });
  expect(await list({ limit: 1, cursor: first.next })).toMatchObject({ data: [{ id: ids[0] }], next: null });
  expect(await codeOf(await call("viewer", "files.list", { workspace: "acme" }, { cursor: "!" }))).toBe(
    "400 invalid_request",
  );
  const file = { workspace: "acme", file: ids[0] ?? "" };
  expect(await codeOf(await call("viewer", "files.remove", file))).toBe("403 forbidden");
  expect(await codeOf(await call("stranger", "files.remove", { ...file, workspace: "other" }))).toBe("404 not_found");
  expect((await call("member", "files.remove", file)).status).toBe(200);
  expect(await codeOf(await call("member", "files.remove", file))).toBe("404 not_found");
  expect((await list()).data).toMatchObject([{ id: ids[1] }]);
  const row = (await fixture.audit()).at(-1);
  expect(`${row?.actor} ${row?.action} ${row?.object}`).toBe(`member@example.com remove file ${ids[0]}`);
  await until(
    async () => (await fixture.control.database.kysely.selectFrom("files").select("id").execute()).length === 1,
  );
});

test("hides files of another person's key from members, and lets admins and the owner download them", async () => {
  const { control, users } = fixture;
  const workspaceId = (await control.controlStore.keyById(fixture.keys.owners))?.workspaceId ?? "";
  const personal = async (who: "member" | "owner", secret: string) => {
    const wanted = { name: `personal key of ${who}`, secret: new Secret(secret), createdBy: users[who].id };
    const source = { actor: "test", ip: null };
    return (await control.controlStore.addKey(workspaceId, { ...wanted, owner: users[who].id }, source)).id;
  };
  const ownersFile = await upload(
    await personal("owner", "sk-personal-owner-0123456789abc"),
    "evals",
    "of the owner",
    "owner",
  );
  const membersFile = await upload(
    await personal("member", "sk-personal-member-0123456789ab"),
    "evals",
    "of the member",
  );
  const sharedFile = await upload(fixture.keys.owners, "evals", "shared", "owner");

  const seenBy = async (who: MediaUser) => {
    const { data, total, total_bytes, used_bytes } = await list({ purpose: "evals" }, who);
    const shown = data.map(({ id, downloadable }) => `${id} ${downloadable}`);
    return { shown, total, total_bytes, used_bytes: used_bytes >= 31 };
  };
  expect(await seenBy("member")).toEqual({
    shown: [`${sharedFile} false`, `${membersFile} true`],
    ...{ total: 2, total_bytes: 19, used_bytes: true },
  });
  expect(await seenBy("viewer")).toEqual({
    shown: [`${sharedFile} false`],
    ...{ total: 1, total_bytes: 6, used_bytes: true },
  });
  expect(await seenBy("admin")).toEqual({
    shown: [`${sharedFile} true`, `${membersFile} true`, `${ownersFile} true`],
    ...{ total: 3, total_bytes: 31, used_bytes: true },
  });

  const download = (who: MediaUser, file: string, init: RequestInit = {}) =>
    fixture.as(who, fileContentPath("acme", file), init);
  const content = await download("owner", ownersFile);
  expect([content.status, await content.text()]).toEqual([200, "of the owner"]);
  expect(content.headers.get("content-disposition")).toStartWith('attachment; filename="a.txt"');
  expect(content.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await fixture.audit()).at(-1)).toEqual({
    actor: "owner@example.com",
    action: "download",
    object: `file ${ownersFile}`,
  });
  const part = await download("admin", ownersFile, { headers: { range: "bytes=0-1" } });
  expect([part.status, await part.text()]).toEqual([206, "of"]);
  const head = await download("admin", membersFile, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "13", ""]);
  expect(await codeOf(await download("member", ownersFile))).toBe("404 not_found");
  expect(await codeOf(await download("member", sharedFile))).toBe("403 forbidden");
  expect(await codeOf(await download("stranger", ownersFile))).toBe("404 not_found");
  expect(await codeOf(await download("admin", "file-none"))).toBe("404 not_found");
  expect(await codeOf(await fixture.as("stranger", fileContentPath("other", ownersFile)))).toBe("404 not_found");

  const remove = (who: MediaUser, file: string) => call(who, "files.remove", { workspace: "acme", file });
  expect(await codeOf(await remove("member", ownersFile))).toBe("404 not_found");
  expect((await remove("member", membersFile)).status).toBe(200);
  expect((await remove("admin", ownersFile)).status).toBe(200);
});
