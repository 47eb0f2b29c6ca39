import { expect, test } from "bun:test";
import { openTenantFixture } from "./tenant-fixture.ts";

const show = (user: string, workspace = "acme") => ({ params: { workspace, user } });

test("shows an administrator and the person everything, and an admin the part of the workspace", async () => {
  await using fixture = await openTenantFixture();
  const { id, email } = fixture.users.member;
  await fixture.people.setMember(fixture.other.id, id, "viewer", { actor: "test", ip: null });
  const slugs = async (who: "administrator" | "member" | "admin", workspace?: string) => {
    const { body } = await fixture.call(who, "people.show", show(id, workspace));
    expect(body).toMatchObject({ id, email, administrator: false, disabled: false });
    return [body.workspaces.map(({ slug }: { slug: string }) => slug), body.sign_in === null];
  };
  expect(await slugs("administrator", "-")).toEqual([["acme", "other"], false]);
  expect(await slugs("administrator")).toEqual([["acme", "other"], false]);
  expect(await slugs("member")).toEqual([["acme", "other"], false]);
  expect(await slugs("admin")).toEqual([["acme"], true]);
});

test("hides people from other members, and people of other workspaces from admins", async () => {
  await using fixture = await openTenantFixture();
  const { member, stranger, viewer } = fixture.users;
  expect(await fixture.call("member", "people.show", show(viewer.id))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  expect(await fixture.call("viewer", "people.show", show(member.id))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  expect(await fixture.call("owner", "people.show", show(stranger.id))).toMatchObject({ status: 404, param: "user" });
  expect(await fixture.call("owner", "people.show", show("usr_none"))).toMatchObject({ status: 404, param: "user" });
  expect(await fixture.call("stranger", "people.show", show(member.id))).toMatchObject({ status: 404 });
  expect(await fixture.call("owner", "people.show", show(member.id, "-"))).toMatchObject({ status: 403 });
});
