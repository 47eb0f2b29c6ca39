import { expect, test } from "bun:test";
import type { PlaygroundShare } from "@sluice/contract";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const dayMs = 86_400_000;
const acme = { workspace: "acme" };
const session = {
  ...{ models: ["gpt-5", "claude"], messages: ["Hello", "And in French?"], system: "Be brief.", temperature: 0.2 },
  ...{ max_tokens: 100, stop: ["END"], tools: "", more: "" },
};

type Who = Parameters<TenantFixture["call"]>[0];

const share = (fixture: TenantFixture, who: Who, changes: object = {}, days?: number) =>
  fixture.call(who, "playgroundShares.create", {
    params: acme,
    body: { session: { ...session, ...changes }, ...(days === undefined ? {} : { days }) } as never,
  });
const show = (fixture: TenantFixture, who: Who, id: string, workspace = "acme") =>
  fixture.call(who, "playgroundShares.show", { params: { workspace, share: id } });

test("shares a session with the workspace until it expires", async () => {
  await using fixture = await openTenantFixture();
  const made = await share(fixture, "member", {}, 2);
  expect(made).toMatchObject({
    status: 201,
    body: { models: ["gpt-5", "claude"], owner: { email: "member@example.com" } },
  });
  const { id } = made.body;
  expect((await show(fixture, "viewer", id)).body).toMatchObject({ id, session });
  expect((await show(fixture, "stranger", id)).status).toBe(404);
  expect((await show(fixture, "stranger", id, "other")).status).toBe(404);
  expect((await show(fixture, "administrator", id, "-")).status).toBe(400);
  fixture.clock.advance(2 * dayMs);
  expect((await show(fixture, "member", id)).status).toBe(404);
  await share(fixture, "admin");
  const rows = await fixture.database.kysely.selectFrom("playground_shares").select("id").execute();
  expect(rows).toHaveLength(1);
});

test("masks keys, and has neither answers nor unknown fields; the audit log has no messages", async () => {
  await using fixture = await openTenantFixture();
  const key = await fixture.makeKey("member", { name: "ci" });
  const { secret } = key.body as { secret: string };
  const made = await share(fixture, "member", { messages: [`Use ${secret}`], more: JSON.stringify({ token: secret }) });
  const shown = await show(fixture, "viewer", made.body.id);
  expect(JSON.stringify(shown.body)).not.toContain(secret);
  for (const wrong of [
    { key: secret },
    { turns: [] },
    { messages: [{ role: "assistant", content: "x" }] },
    { models: [] },
    { models: [""] },
    { models: ["a", "b", "c", "d", "e"] },
  ]) {
    expect((await share(fixture, "member", wrong)).status).toBe(400);
  }
  expect((await share(fixture, "member", {}, 91)).param).toBe("days");
  const audited = (await fixture.audit()).filter(({ object }) => object === "playground session gpt-5, claude");
  expect(audited.map(({ action }) => action)).toEqual(["create"]);
  expect(JSON.stringify(audited)).not.toContain("Use ");
});

test("only its owner and admins stop sharing a session; viewers share none; a user has at most 50", async () => {
  await using fixture = await openTenantFixture();
  const { call } = fixture;
  const { id } = (await share(fixture, "member")).body;
  const theirs = (await share(fixture, "owner")).body.id;
  expect((await share(fixture, "viewer")).status).toBe(403);
  const listed = async (who: Who) =>
    (await call(who, "playgroundShares.list", { params: acme })).body.data.map((each: PlaygroundShare) => each.id);
  expect(await listed("member")).toEqual([id]);
  expect(await listed("admin")).toEqual([theirs, id]);
  const remove = async (who: Who, of: string) =>
    (await call(who, "playgroundShares.remove", { params: { ...acme, share: of } })).status;
  expect(await remove("member", theirs)).toBe(403);
  expect(await remove("admin", id)).toBe(204);
  expect(await remove("member", id)).toBe(404);
  for (let n = 0; n < 50; n++) expect((await share(fixture, "member")).status).toBe(201);
  expect((await share(fixture, "member")).code).toBe("conflict");
});
