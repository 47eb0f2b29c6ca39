import { describe, expect, test } from "bun:test";
import { bounds, Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import type { PeopleFixture } from "./people-facts.ts";
import { resetTests } from "./people-resets.ts";
import { newToken, tokenTests } from "./people-tokens.ts";

const auditSource: AuditSource = { actor: "ada@example.com", ip: "192.0.2.1" };
const conflict = { code: "conflict" };
const notFound = { code: "not_found" };
/** Allows every invitation, whatever rights the inviter has. */
const mayInvite = () => true;

/** Rules that hold on every database. */
export function peopleStoreSuite(name: string, make: () => Promise<PeopleFixture>): void {
  describe(`people in ${name}`, () => {
    userTests(make);
    memberTests(make);
    invitationTests(make);
    tokenTests(make);
    resetTests(make);
  });
}

function userTests(make: () => Promise<PeopleFixture>): void {
  test("creates only one of two concurrent first administrators", async () => {
    await using fixture = await make();
    const { people } = fixture;
    await fixture.user("ada");
    expect(await people.administratorExists()).toBe(false);
    const created = await Promise.all(
      ["ada", "eve"].map((name) =>
        people.makeFirstAdministrator({ email: `${name}@example.com`, name, passwordHash: "hash" }, auditSource),
      ),
    );
    expect(created.toSorted()).toEqual([false, true]);
    expect(await people.administratorExists()).toBe(true);
  });

  test("neither demotes, disables nor removes the last administrator who can sign in", async () => {
    await using fixture = await make();
    const { people } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.updateUser(ada, { administrator: true }, auditSource);
    await people.updateUser(bob, { administrator: true, disabled: true }, auditSource);
    await expect(people.updateUser(ada, { administrator: false }, auditSource)).rejects.toMatchObject(conflict);
    await expect(people.updateUser(ada, { disabled: true }, auditSource)).rejects.toMatchObject(conflict);
    await expect(people.removeUser(ada, null, auditSource)).rejects.toMatchObject(conflict);
    await people.updateUser(bob, { disabled: false }, auditSource);
    expect(await people.updateUser(ada, { administrator: false }, auditSource)).toMatchObject({ administrator: false });
  });

  test("keeps one of two administrators who demote each other at once", async () => {
    await using fixture = await make();
    const { people } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.updateUser(ada, { administrator: true }, auditSource);
    await people.updateUser(bob, { administrator: true }, auditSource);
    const both = await Promise.allSettled([
      people.updateUser(ada, { administrator: false }, auditSource),
      people.updateUser(bob, { administrator: false }, auditSource),
    ]);
    expect(both.map((each) => each.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await people.administratorExists()).toBe(true);
  });

  test("returns no rights for a disabled user and for a missing one", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const ada = await fixture.user("ada");
    await people.setMember(acme, ada, "admin", auditSource);
    expect(await people.rightsOf(ada)).toEqual({ administrator: false, roles: new Map([[acme, "admin"]]) });
    await people.updateUser(ada, { disabled: true }, auditSource);
    expect(await people.rightsOf(ada)).toBeNull();
    expect(await people.rightsOf("usr_missing")).toBeNull();
    await expect(people.updateUser("usr_missing", { disabled: true }, auditSource)).rejects.toMatchObject(notFound);
  });

  test("lists users by address, page by page, and finds them by part of their address or name in any case", async () => {
    await using fixture = await make();
    const { people } = fixture;
    for (const name of ["carl", "ada", "under_score", "bob", "percent%"]) await fixture.user(name);
    const first = await people.listUsers({}, null, 2);
    expect(first.data.map((user) => user.name)).toEqual(["ada", "bob"]);
    const rest = await people.listUsers({}, first.next, 3);
    expect([rest.data.map((user) => user.name), rest.next]).toEqual([["carl", "percent%", "under_score"], null]);
    const search = async (text: string) =>
      (await people.listUsers({ search: text }, null, 9)).data.map((user) => user.name);
    expect(await search("ADA")).toEqual(["ada"]);
    expect(await search("_")).toEqual(["under_score"]);
    expect(await search("%")).toEqual(["percent%"]);
    expect(await search("\\")).toEqual([]);
    await expect(people.listUsers({}, "nonsense", 2)).rejects.toMatchObject({ param: "cursor" });
  });

  test("sorts all users on every page, counts them, and filters by role, status and last sign-in", async () => {
    await using fixture = await make();
    const { people, database } = fixture;
    const ids = new Map<string, string>();
    for (const name of ["carl", "ada", "bob", "dora"]) ids.set(name, await fixture.user(name));
    const set = (name: string, columns: object) =>
      database.kysely
        .updateTable("auth_users")
        .set(columns)
        .where("id", "=", ids.get(name) ?? "")
        .execute();
    await set("ada", { last_seen_at: 5, administrator: 1 });
    await set("bob", { last_seen_at: 9, disabled: 1 });
    const list = async (filter: Parameters<typeof people.listUsers>[0]) => {
      const names: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const page = await people.listUsers(filter, cursor, 2);
        names.push(...page.data.map((user) => user.name));
        cursor = page.next;
        if (cursor === null) return [names, page.total];
      }
    };
    expect(await list({ sort: "-seen" })).toEqual([["bob", "ada", "carl", "dora"], 4]);
    expect(await list({ sort: "seen" })).toEqual([["carl", "dora", "ada", "bob"], 4]);
    expect(await list({ sort: "role" })).toEqual([["ada", "bob", "carl", "dora"], 4]);
    expect(await list({ sort: "-who" })).toEqual([["dora", "carl", "bob", "ada"], 4]);
    expect(await list({ role: "administrator" })).toEqual([["ada"], 1]);
    expect(await list({ state: "disabled" })).toEqual([["bob"], 1]);
    expect(await list({ unseenSince: 9 })).toEqual([["ada", "carl", "dora"], 3]);
    const first = await people.listUsers({ sort: "seen" }, null, 1);
    await expect(people.listUsers({ sort: "-seen" }, first.next, 1)).rejects.toMatchObject({ param: "cursor" });
  });

  test("deletes the roles, tokens, invitations and resets of a removed user", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.updateUser(bob, { administrator: true }, auditSource);
    await people.setMember(acme, ada, "admin", auditSource);
    await people.createToken(newToken(ada, acme), auditSource);
    await people.invite(newInvitation(ada, acme), auditSource);
    await people.createReset(ada, "reset", fixture.clock.now() + 1_000, auditSource);
    await people.removeUser(ada, null, auditSource);
    expect(await people.rightsOf(ada)).toBeNull();
    expect((await people.listTokens(null, null, 9)).data).toEqual([]);
    expect(await people.listInvitations(acme)).toEqual([]);
    expect(await people.takeReset("reset")).toBeNull();
  });
}

function memberTests(make: () => Promise<PeopleFixture>): void {
  test("keeps a member's limits in one workspace, also after they return", async () => {
    await using fixture = await make();
    const { people, acme, other } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    for (const user of [ada, bob]) await people.setMember(acme, user, "member", auditSource);
    await people.setMember(other, ada, "member", auditSource);
    const limits = { rpm: 5, concurrency: 2 };
    const budget = { usd: 50, period: "month" as const };
    const changed = await people.updateMember(acme, ada, { role: "admin", limits, budget }, auditSource);
    expect(changed).toMatchObject({ id: ada, role: "admin", limits, budget });
    const shown = async (workspace: string) =>
      (await people.listMembers(workspace)).map((member) => [member.id, member.limits, member.budget]);
    expect(await shown(acme)).toEqual([
      [ada, limits, budget],
      [bob, {}, null],
    ]);
    expect(await shown(other)).toEqual([[ada, {}, null]]);
    const limited = await people.limitedPeople({ workspaceId: null }, 9);
    expect(limited.map(({ workspaceId, userId, scope }) => [workspaceId, userId, scope.label])).toEqual([
      [acme, ada, "person acme/ada@example.com"],
    ]);
    expect(limited[0]?.scope.budget).toEqual({ nanoUsd: 50_000_000_000, period: "month" });
    expect(await people.limitedPeople({ workspaceId: acme, search: "BOB" }, 9)).toEqual([]);
    expect(await people.limitedPeople({ workspaceId: acme, userIds: [bob] }, 9)).toEqual([]);
    // Limits without a role create no member and write nothing.
    await expect(people.updateMember(other, bob, { limits }, auditSource)).rejects.toMatchObject(notFound);
    expect(await people.limitedPeople({ workspaceId: other }, 9)).toEqual([]);
    await people.removeMember(acme, ada, { keys: null }, auditSource);
    expect(await people.setMember(acme, ada, "member", auditSource)).toMatchObject({ limits, budget });
    await people.updateMember(acme, ada, { limits: {}, budget: null }, auditSource);
    expect(await people.limitedPeople({ workspaceId: null }, 9)).toEqual([]);
    const rows = await fixture.database.kysely
      .selectFrom("audit_log")
      .select(["object", "before", "after"])
      .where("object", "=", "member acme/ada@example.com")
      .where("after", "like", "%budget%")
      .orderBy("seq")
      .execute();
    const auditBudgets = rows.map(({ before, after }) => [
      JSON.parse(before ?? "").budget,
      JSON.parse(after ?? "").budget,
    ]);
    expect(auditBudgets).toEqual([
      [null, { nanoUsd: 50_000_000_000, period: "month" }],
      [{ nanoUsd: 50_000_000_000, period: "month" }, null],
    ]);
  });

  test("keeps the last owner of a workspace who can sign in", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.setMember(acme, ada, "owner", auditSource);
    await people.setMember(acme, bob, "owner", auditSource);
    await people.updateUser(bob, { disabled: true }, auditSource);
    await expect(people.setMember(acme, ada, "admin", auditSource)).rejects.toMatchObject(conflict);
    await expect(people.removeMember(acme, ada, { keys: null }, auditSource)).rejects.toMatchObject(conflict);
    await expect(people.removeUser(ada, null, auditSource)).rejects.toMatchObject(conflict);
    await people.updateUser(bob, { disabled: false }, auditSource);
    const both = await Promise.allSettled([
      people.removeMember(acme, ada, { keys: null }, auditSource),
      people.setMember(acme, bob, "viewer", auditSource),
    ]);
    expect(both.map((each) => each.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect((await people.listMembers(acme)).filter((member) => member.role === "owner")).toHaveLength(1);
  });

  test("deletes the tokens and invitations that a removed member created, also when they return", async () => {
    await using fixture = await make();
    const { people, acme, other } = fixture;
    const ada = await fixture.user("ada");
    await people.setMember(acme, ada, "admin", auditSource);
    await people.setMember(other, ada, "admin", auditSource);
    await people.createToken(newToken(ada, acme, "one"), auditSource);
    await people.createToken(newToken(ada, other, "two"), auditSource);
    await people.invite(newInvitation(ada, acme), auditSource);
    await people.removeMember(acme, ada, { keys: null }, auditSource);
    await people.setMember(acme, ada, "owner", auditSource);
    expect(await people.tokenActor("one")).toBeNull();
    expect(await people.tokenActor("two")).toMatchObject({ userId: ada });
    expect(await people.listInvitations(acme)).toEqual([]);
    await expect(people.removeMember(acme, "usr_missing", { keys: null }, auditSource)).rejects.toMatchObject(notFound);
    await expect(people.setMember("ws_none", ada, "viewer", auditSource)).rejects.toMatchObject(notFound);
  });

  test("checks the rights of a member inside the write that changes or removes them", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.setMember(acme, bob, "owner", auditSource);
    await people.setMember(acme, ada, "owner", auditSource);
    const roles: unknown[] = [];
    const allow = (role: string | null) => {
      roles.push(role);
      if (role === "owner") throw new Failure("forbidden", "Their role is above yours.");
    };
    const forbidden = { code: "forbidden" };
    await expect(people.updateMember(acme, ada, { role: "viewer", allow }, auditSource)).rejects.toMatchObject(
      forbidden,
    );
    await expect(people.removeMember(acme, ada, { keys: null, allow }, auditSource)).rejects.toMatchObject(forbidden);
    expect(await people.listMembers(acme)).toMatchObject([{ role: "owner" }, { role: "owner" }]);
    await people.setMember(acme, ada, "member", auditSource);
    await people.updateMember(acme, ada, { role: "viewer", allow }, auditSource);
    await people.removeMember(acme, ada, { keys: null, allow }, auditSource);
    await people.updateMember(acme, ada, { role: "viewer", allow }, auditSource);
    expect(roles).toEqual(["owner", "owner", "member", "viewer", null]);
  });

  test("writes an audit row with before, after, workspace and source for every change", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const ada = await fixture.user("ada");
    await people.setMember(acme, ada, "viewer", auditSource);
    await people.setMember(acme, ada, "viewer", auditSource);
    await people.setMember(acme, ada, "member", auditSource);
    await people.removeMember(acme, ada, { keys: null }, auditSource);
    const rows = await fixture.database.kysely
      .selectFrom("audit_log")
      .selectAll()
      .where("object", "=", "member acme/ada@example.com")
      .orderBy("seq")
      .execute();
    const roleIn = (text: string | null) => (text === null ? null : JSON.parse(text).role);
    expect(rows.map((row) => [row.action, roleIn(row.before), roleIn(row.after)])).toEqual([
      ["create", null, "viewer"],
      ["update", "viewer", "member"],
      ["remove", "member", null],
    ]);
    for (const row of rows)
      expect(row).toMatchObject({ actor: auditSource.actor, ip: auditSource.ip, workspace_id: acme });
  });
}

function invitationTests(make: () => Promise<PeopleFixture>): void {
  test("accepts an invitation from one of two concurrent users", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const [ada, bob, carl] = [await fixture.user("ada"), await fixture.user("bob"), await fixture.user("carl")];
    const { id } = await people.invite(newInvitation(ada, acme), auditSource);
    const both = await Promise.all(
      [bob, carl].map((user) =>
        people.acceptInvitation(id, { user: { id: user }, sessionId: null, mayInvite }, auditSource),
      ),
    );
    expect(both.toSorted()).toEqual([false, true]);
    expect(await people.listMembers(acme)).toHaveLength(1);
    expect(await people.invitation(id)).toBeNull();
  });

  test("expires an invitation, and replaces it with a newer one for the same place", async () => {
    await using fixture = await make();
    const { people, acme, other, clock } = fixture;
    const ada = await fixture.user("ada");
    const first = await people.invite(newInvitation(ada, acme, "one"), auditSource);
    await people.invite(newInvitation(ada, other, "elsewhere"), auditSource);
    const second = await people.invite(newInvitation(ada, acme, "two"), auditSource);
    expect(await people.invitationByDigest("one")).toBeNull();
    expect(
      await people.acceptInvitation(first.id, { user: { id: ada }, sessionId: null, mayInvite }, auditSource),
    ).toBe(false);
    expect((await people.listInvitations(acme)).map((each) => each.id)).toEqual([second.id]);
    expect(await people.listInvitations(other)).toHaveLength(1);
    clock.advance(second.expires_at - clock.now());
    expect(await people.invitationByDigest("two")).toBeNull();
    expect(
      await people.acceptInvitation(second.id, { user: { id: ada }, sessionId: null, mayInvite }, auditSource),
    ).toBe(false);
    expect(await people.listInvitations(acme)).toEqual([]);
  });

  test("rejects accepting while the inviter may not invite, and keeps the invitation", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.setMember(acme, ada, "admin", auditSource);
    const { id } = await people.invite(newInvitation(ada, acme), auditSource);
    const accept = (inviterRole: string) =>
      people.acceptInvitation(
        id,
        { user: { id: bob }, sessionId: null, mayInvite: ({ roles }) => roles.get(acme) === inviterRole },
        auditSource,
      );
    await people.setMember(acme, ada, "viewer", auditSource);
    expect([await accept("admin"), (await people.invitation(id))?.id]).toEqual([false, id]);
    expect([await accept("viewer"), await people.invitation(id)]).toEqual([true, null]);
    expect((await people.rightsOf(bob))?.roles.has(acme)).toBe(true);
  });

  test("never lowers the role of a member who accepts an invitation", async () => {
    await using fixture = await make();
    const { people, acme } = fixture;
    const ada = await fixture.user("ada");
    await people.setMember(acme, ada, "owner", auditSource);
    const { id } = await people.invite(newInvitation(ada, acme), auditSource);
    expect(await people.acceptInvitation(id, { user: { id: ada }, sessionId: null, mayInvite }, auditSource)).toBe(
      true,
    );
    expect(await people.listMembers(acme)).toMatchObject([{ role: "owner" }]);
  });

  test("limits the number of open invitations", async () => {
    await using fixture = await make();
    const { people, acme, database, clock } = fixture;
    const ada = await fixture.user("ada");
    const row = (index: number) => ({
      id: `inv_${index}`,
      email: `${index}@example.com`,
      administrator: 0,
      workspace_id: acme,
      role: "viewer" as const,
      digest: `digest ${index}`,
      invited_by: ada,
      created_at: clock.now(),
      expires_at: clock.now() + 1,
    });
    await database.kysely
      .insertInto("invitations")
      .values(Array.from({ length: bounds.invitationsOpenMax }, (_, index) => row(index)))
      .execute();
    await expect(people.invite(newInvitation(ada, acme), auditSource)).rejects.toMatchObject(conflict);
    clock.advance(1);
    expect(await people.invite(newInvitation(ada, acme), auditSource)).toMatchObject({ email: "new@example.com" });
  });

  test("deletes invitations and tokens of a removed user or workspace", async () => {
    await using fixture = await make();
    const { people, acme, database } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await people.invite(newInvitation(ada, acme, "one"), auditSource);
    await people.createToken(newToken(bob, acme), auditSource);
    await fixture.remove(ada);
    expect(await people.invitationByDigest("one")).toBeNull();
    await database.kysely.deleteFrom("groups").where("workspace_id", "=", acme).execute();
    await database.kysely.deleteFrom("workspaces").where("id", "=", acme).execute();
    expect((await people.listTokens(bob, null, 9)).data).toEqual([]);
  });
}

function newInvitation(invitedBy: string, workspaceId: string, digest = "invitation") {
  const grant = { administrator: false, workspaceId, role: "member" } as const;
  return { email: "New@example.com", grant, invitedBy, digest, expiresAt: Date.UTC(2026, 0, 8) };
}
