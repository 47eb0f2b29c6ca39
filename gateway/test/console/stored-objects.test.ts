import { afterAll, beforeAll, expect, test } from "bun:test";
import type { UpstreamObject } from "#core/index.ts";
import { type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

let fixture: MediaFixture;
beforeAll(async () => {
  fixture = await openMediaFixture();
  const workspaceId = (await fixture.control.controlStore.workspaceNamed("acme"))?.id ?? "";
  const put = (id: string, kind: UpstreamObject["kind"], createdAt: number, change: Partial<UpstreamObject> = {}) =>
    fixture.control.objectStore.put({
      ...{ id, kind, workspaceId, keyId: fixture.keys.owners, personId: null, session: null, inputTokens: null },
      ...{ provider: "main", deployment: "", model: "", upstreamModel: "", createdAt, expiresAt: null },
      ...change,
    });
  await put("conv_1", "conversation", 1_000, { keyId: fixture.keys.members, personId: fixture.users.member.id });
  await put("vs_2", "vector_store", 2_000);
  await put("resp_3", "response", 3_000);
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function list(who: MediaUser, query = ""): Promise<readonly { readonly id: string }[]> {
  const answer = await fixture.as(who, `/api/workspaces/acme/stored-objects${query}`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: { id: string }[] }).data;
}

const idsOf = (objects: readonly { readonly id: string }[]) => objects.map(({ id }) => id);

test("lists objects stored at vendors with the names of their keys, without responses", async () => {
  const objects = await list("admin");
  expect(idsOf(objects)).toEqual(["vs_2", "conv_1"]);
  expect(objects[1]).toEqual({
    ...{ id: "conv_1", kind: "conversation", key: { id: fixture.keys.members, name: "key of member" } },
    ...{ provider: "main", model: "", created_at: 1_000, expires_at: null },
  } as object as { id: string });
});

test("filters by kind and key, and hides objects of other people from members", async () => {
  expect(idsOf(await list("admin", "?kind=vector_store"))).toEqual(["vs_2"]);
  expect(idsOf(await list("admin", `?key=${fixture.keys.members}`))).toEqual(["conv_1"]);
  expect(idsOf(await list("member"))).toEqual(["vs_2", "conv_1"]);
  expect(idsOf(await list("viewer"))).toEqual(["vs_2"]);
});
