import { expect, test } from "bun:test";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };

/** A console with one provider. */
async function openFixture(): Promise<TenantFixture> {
  const fixture = await openTenantFixture();
  const { controlStore } = fixture;
  await controlStore.apply({ providers: [{ id: "vendor", kind: "openai", api_key: "sk-x" }] }, "test");
  await fixture.refresh();
  return fixture;
}

test("only an administrator grants pass-through, on new and existing keys, groups and workspaces", async () => {
  await using fixture = await openFixture();
  const made = await fixture.makeKey("member", { name: "trainer" });
  const key = { ...acme, key: made.body.key.id };
  const group = { ...acme, group: "default" };
  const pass_through = ["vendor"];
  for (const who of ["viewer", "member", "admin", "owner"] as const) {
    for (const value of [pass_through, []]) {
      const body = { pass_through: value };
      const tries = [
        await fixture.makeKey(who, { name: `of ${who}`, ...body }),
        await fixture.call(who, "keys.update", { params: key, body }),
        await fixture.call(who, "groups.create", { params: acme, body: { name: `of-${who}`, ...body } }),
        await fixture.call(who, "groups.update", { params: group, body }),
        await fixture.call(who, "workspaces.update", { params: acme, body }),
      ];
      expect(tries.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    }
  }
  const body = { pass_through };
  expect((await fixture.call("administrator", "workspaces.update", { params: acme, body })).body).toMatchObject(body);
  expect((await fixture.call("administrator", "groups.update", { params: group, body })).body).toMatchObject(body);
  expect((await fixture.call("administrator", "keys.update", { params: key, body })).body).toMatchObject(body);
  expect((await fixture.makeKey("administrator", { name: "another", ...body })).body.key).toMatchObject(body);
  expect((await fixture.call("viewer", "keys.show", { params: key })).body).toMatchObject(body);
  // The key's creator changes other fields, and the grant stays.
  const renamed = await fixture.call("member", "keys.update", { params: key, body: { name: "trains" } });
  expect(renamed.body).toMatchObject({ name: "trains", pass_through });
});

test("a grant and its removal are in the audit log with before and after", async () => {
  await using fixture = await openFixture();
  const key = (await fixture.makeKey("member", { name: "trainer" })).body.key;
  const params = { ...acme, key: key.id };
  await fixture.call("administrator", "keys.update", { params, body: { pass_through: ["vendor"] } });
  await fixture.call("administrator", "keys.update", { params, body: { pass_through: [] } });
  const rows = (await fixture.audit()).filter(
    ({ object, action }) => object === "key acme/trainer" && action === "update",
  );
  expect(
    rows.map(({ before, after }) => [JSON.parse(before ?? "{}").pass_through, JSON.parse(after ?? "{}").pass_through]),
  ).toEqual([
    [[], ["vendor"]],
    [["vendor"], []],
  ]);
});

test("rejects a grant for an unknown provider, and keeps one whose provider was removed", async () => {
  await using fixture = await openFixture();
  const key = (await fixture.makeKey("administrator", { name: "trainer", pass_through: ["vendor"] })).body.key;
  const params = { ...acme, key: key.id };
  const wrong = { status: 400, code: "invalid_request", param: "pass_through.1" };
  const body = { pass_through: ["vendor", "vendr"] };
  expect(await fixture.call("administrator", "keys.update", { params, body })).toMatchObject(wrong);
  expect(await fixture.makeKey("administrator", { name: "x", ...body })).toMatchObject(wrong);
  expect(
    await fixture.call("administrator", "groups.update", { params: { ...acme, group: "default" }, body }),
  ).toMatchObject(wrong);
  expect(await fixture.call("administrator", "workspaces.update", { params: acme, body })).toMatchObject(wrong);
  for (const star of ["*", "vend*"]) {
    expect(
      (await fixture.call("administrator", "keys.update", { params, body: { pass_through: [star] } })).status,
    ).toBe(400);
  }
  await fixture.controlStore.apply({ providers: [] }, "test");
  await fixture.refresh();
  const unchanged = await fixture.call("administrator", "keys.update", {
    params,
    body: { pass_through: ["vendor"], name: "trains" },
  });
  expect(unchanged).toMatchObject({ status: 200, body: { name: "trains" } });
});

test("a new key with the name of a revoked one does not inherit its grant", async () => {
  await using fixture = await openFixture();
  const key = (await fixture.makeKey("administrator", { name: "trainer", pass_through: ["vendor"] })).body.key;
  await fixture.call("admin", "keys.revoke", { params: { ...acme, key: key.id } });
  expect((await fixture.makeKey("member", { name: "trainer" })).body.key).toMatchObject({
    name: "trainer",
    pass_through: [],
  });
});

test("an export contains grants, except those of removed providers", async () => {
  await using fixture = await openFixture();
  const body = { pass_through: ["vendor"] };
  await fixture.call("administrator", "workspaces.update", { params: acme, body });
  await fixture.call("administrator", "groups.update", { params: { ...acme, group: "default" }, body });
  await fixture.makeKey("administrator", { name: "trainer", ...body });
  const exported = async () => (await fixture.controlStore.exportConfig(() => false)).config.workspaces?.[0];
  expect(await exported()).toMatchObject({ ...body, groups: [body], keys: [body] });
  await fixture.controlStore.apply({ providers: [] }, "test");
  expect(JSON.stringify(await exported())).not.toContain("pass_through");
});
