import { afterAll, beforeAll, expect, test } from "bun:test";
import { asKeyPath, consoleRoutes, type RouteId, urlOf } from "@sluice/contract";
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
  };
}

async function upload(key: string, purpose: string, text: string): Promise<string> {
  const body = new FormData();
  body.append("purpose", purpose);
  body.append("file", new Blob([text]), "a.txt");
  const path = `${asKeyPath("acme", key)}/v1/files`;
  const answer = await fixture.as("member", path, { method: "POST", body });
  expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
  return ((await answer.json()) as { id: string }).id;
}

test("lists a workspace's files with filters and sums, and members delete them with an audit row", async () => {
  const { members: key } = fixture.keys;
  const ids = [await upload(key, "batch", "one"), await upload(key, "vision", "three")];
  const whole = await list();
  expect(whole).toMatchObject({ total: 2, total_bytes: 8, next: null });
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
