import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import type { PeopleFixture } from "./people-facts.ts";

const auditSource: AuditSource = { actor: "ada@example.com", ip: "192.0.2.1" };

export function tokenTests(make: () => Promise<PeopleFixture>): void {
  test("lowers a token's rights with those of its creator, and restores them up to its grant", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.setMember(acme, bob, "owner", auditSource);
    await people.setMember(acme, ada, "owner", auditSource);
    const token = await people.createToken(newToken(ada, acme), auditSource);
    const roleOfToken = async () => (await people.tokenActor("token"))?.roles.get(acme);
    expect(await roleOfToken()).toBe("admin");
    await people.setMember(acme, ada, "viewer", auditSource);
    expect(await roleOfToken()).toBe("viewer");
    await people.setMember(acme, ada, "owner", auditSource);
    expect(await roleOfToken()).toBe("admin");
    await people.updateUser(ada, { disabled: true }, auditSource);
    expect(await people.tokenActor("token")).toBeNull();
    await people.updateUser(ada, { disabled: false }, auditSource);
    await people.revokeToken(token.id, auditSource);
    expect(await people.tokenActor("token")).toBeNull();
  });

  test("gives an administrator's token only the current rights of its creator", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.updateUser(bob, { administrator: true }, auditSource);
    await people.updateUser(ada, { administrator: true }, auditSource);
    await people.createToken({ ...newToken(ada, acme), grant: { administrator: true } }, auditSource);
    expect(await people.tokenActor("token")).toMatchObject({ administrator: true, fresh: true, kind: "token" });
    await people.updateUser(ada, { administrator: false }, auditSource);
    expect(await people.tokenActor("token")).toBeNull();
    await people.setMember(acme, ada, "member", auditSource);
    expect(await people.tokenActor("token")).toMatchObject({
      administrator: false,
      roles: new Map([[acme, "member"]]),
    });
  });

  test("ends a token when it expires, and with the token that created it", async () => {
    await using fixture = await make();
    const { people, acme, clock } = fixture;
    const ada = await fixture.user("ada");
    await people.setMember(acme, ada, "owner", auditSource);
    await people.createToken({ ...newToken(ada, acme, "short"), expiresAt: clock.now() + 1_000 }, auditSource);
    const parent = await people.createToken(newToken(ada, acme, "parent"), auditSource);
    const child = { ...newToken(ada, acme, "child"), madeWith: parent.id };
    const { id } = await people.createToken(child, auditSource);
    await people.createToken({ ...newToken(ada, acme, "grandchild"), madeWith: id }, auditSource);
    clock.advance(1_000);
    expect(await people.tokenActor("short")).toBeNull();
    expect(await people.tokenActor("grandchild")).not.toBeNull();
    await people.revokeToken(parent.id, auditSource);
    expect(await people.tokenActor("grandchild")).toBeNull();
  });

  test("lists tokens newest first, page by page, one owner's or all, with their last use", async () => {
    await using fixture = await make();
    const { people, acme, clock } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.setMember(acme, ada, "owner", auditSource);
    for (const name of ["one", "two", "three"]) await people.createToken(newToken(ada, acme, name), auditSource);
    await people.createToken(newToken(bob, acme, "his"), auditSource);
    const names = (page: { data: readonly { name: string }[] }) => page.data.map((token) => token.name);
    const first = await people.listTokens(ada, null, 2);
    expect(names(first)).toEqual(["three", "two"]);
    expect(names(await people.listTokens(ada, first.next, 2))).toEqual(["one"]);
    expect(names(await people.listTokens(null, null, 9))).toEqual(["his", "three", "two", "one"]);
    clock.advance(bounds.tokenTouchMs);
    const used = clock.now();
    await people.tokenActor("one");
    clock.advance(bounds.tokenTouchMs - 1);
    await people.tokenActor("one");
    expect((await people.listTokens(ada, null, 9)).data.at(-1)).toMatchObject({ name: "one", last_used_at: used });
  });
}

export function newToken(ownerId: string, workspaceId: string, digest = "token") {
  const grant = { administrator: false, workspaceId, role: "admin" } as const;
  return { name: digest, grant, ownerId, digest, prefix: "sluice-admin-abcd", expiresAt: null };
}
