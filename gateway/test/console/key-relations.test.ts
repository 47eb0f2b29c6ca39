import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { asKeyPath } from "@sluice/contract";
import { codeOf, type MediaFixture, openMediaFixture } from "./media-fixture.ts";

/** Every relation between a member and a key. `shared`: has no owner. */
const relations = [
  { name: "created and owned", creator: "member", owner: "member", isOwn: true, isCallable: true },
  { name: "created, shared", creator: "member", owner: null, isOwn: true, isCallable: true },
  { name: "created, of another owner", creator: "member", owner: "owner", isOwn: true, isCallable: false },
  { name: "owned, created by an admin", creator: "admin", owner: "member", isOwn: true, isCallable: true },
  { name: "neither, shared", creator: "admin", owner: null, isOwn: false, isCallable: false },
  { name: "neither, of another owner", creator: "admin", owner: "owner", isOwn: false, isCallable: false },
] as const;
type Relation = (typeof relations)[number];

let fixture: MediaFixture;
let keyIds: ReadonlyMap<string, string>;
beforeAll(async () => {
  fixture = await openMediaFixture();
  keyIds = new Map(await Promise.all(relations.map(async (each) => [each.name, await createKey(each)] as const)));
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Only an admin gives a key to another owner. */
async function createKey({ name, creator, owner }: Relation): Promise<string> {
  const created = await send(creator, "POST", "/keys", { name });
  const { key } = (await created.json()) as { key: { id: string } };
  if (owner !== null) await send("admin", "PATCH", `/keys/${key.id}`, { owner: fixture.users[owner].id });
  return key.id;
}

function send(who: "member" | "admin", method: string, path: string, body?: object): Promise<Response> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { "content-type": "application/json" };
  return fixture.as(who, `/api/workspaces/acme${path}`, { method, headers, ...init });
}

async function namesOf(who: "member" | "admin", query: string): Promise<readonly string[]> {
  const { data } = (await (await send(who, "GET", `/keys?${query}`)).json()) as { data: { name: string }[] };
  return data.map(({ name }) => name).filter((name) => relations.some((each) => each.name === name));
}

const chat = (who: "member" | "admin", relation: Relation) =>
  fixture.as(who, `${asKeyPath("acme", keyIds.get(relation.name) ?? "")}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-test", messages: [{ role: "user", content: "hello" }] }),
  });

const sorted = (of: readonly Relation[]) => of.map(({ name }) => name).toSorted();

test("lists the member's own keys under `mine`, and for others under `user`", async () => {
  const own = sorted(relations.filter(({ isOwn }) => isOwn));
  expect(await namesOf("member", "mine=true")).toEqual(own);
  expect(await namesOf("admin", `user=${fixture.users.member.id}`)).toEqual(own);
});

test("lists the keys to decide about before the member leaves, without those in other workspaces or of an administrator", async () => {
  const own = sorted(relations.filter(({ isOwn }) => isOwn));
  expect(await namesOf("admin", `leaver=${fixture.users.member.id}`)).toEqual(own);
  const administrator = fixture.users.administrator.id;
  expect(await namesOf("admin", `leaver=${administrator}`)).toEqual([]);
});

test("offers only keys that the caller may call with", async () => {
  expect(await namesOf("member", "callable=true")).toEqual(sorted(relations.filter(({ isCallable }) => isCallable)));
  const shared = relations.filter(({ owner }) => owner === null);
  expect(await namesOf("admin", "callable=true")).toEqual(sorted(shared));
});

describe.each(relations)("a key that the member has $name", (relation) => {
  const { owner, isOwn, isCallable } = relation;
  const path = () => `/keys/${keyIds.get(relation.name)}`;

  test(`calls in the console are ${isCallable ? "allowed and recorded with the member" : "refused"}`, async () => {
    const response = await chat("member", relation);
    expect(response.status).toBe(isCallable ? 200 : 403);
    if (!isCallable) return;
    expect((await fixture.entries()).at(-1)).toMatchObject({ actorId: fixture.users.member.id });
    const { data } = (await (await send("admin", "GET", `/requests?key=${keyIds.get(relation.name)}`)).json()) as {
      data: { person: { id: string } | null; actor: { id: string; email: string } | null }[];
    };
    expect(data[0]?.actor).toMatchObject({ id: fixture.users.member.id, email: "member@example.com" });
    expect(data[0]?.person?.id ?? null).toBe(owner === null ? null : fixture.users[owner].id);
  });

  test(`calls of an admin are ${owner === null ? "recorded with the admin" : "refused, because its owner would pay"}`, async () => {
    const response = await chat("admin", relation);
    if (owner !== null) return expect(await codeOf(response)).toBe("403 forbidden");
    expect(response.status).toBe(200);
    expect((await fixture.entries()).at(-1)).toMatchObject({ actorId: fixture.users.admin.id });
  });

  test(`is ${isOwn ? "" : "not "}the member's to change together with other keys`, async () => {
    const id = keyIds.get(relation.name);
    const changes = { add_tags: { stage: "test" } };
    const answer = await (await send("member", "POST", "/keys/changes", { keys: [id], changes })).json();
    expect(answer).toMatchObject(
      isOwn ? { changed: [id], failed: [] } : { changed: [], failed: [{ code: "forbidden" }] },
    );
  });

  test(`is ${isOwn ? "" : "not "}the member's to edit, disable, rotate and revoke`, async () => {
    const actions: [string, string, object | undefined][] = [
      ["PATCH", path(), { tags: { team: "search" } }],
      ["PATCH", path(), { enabled: false }],
      ["PATCH", path(), { enabled: true }],
      ["POST", `${path()}/rotate`, {}],
      ["POST", `${path()}/revoke`, {}],
    ];
    for (const [method, place, body] of actions) {
      expect([place, (await send("member", method, place, body)).status]).toEqual([place, isOwn ? 200 : 403]);
    }
  });
});
