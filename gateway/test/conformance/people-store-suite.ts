import { describe, expect, test } from "bun:test";
import { bounds, Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import type { PeopleGround } from "./people-facts.ts";
import { resetTests } from "./people-resets.ts";
import { newToken, tokenTests } from "./people-tokens.ts";

const auditSource: AuditSource = { actor: "ada@example.com", ip: "192.0.2.1" };
const conflict = { code: "conflict" };
const notFound = { code: "not_found" };
/** Of every invitation, whatever its maker holds. */
const mayInvite = () => true;

/** Rules that hold whatever the database is. */
export function peopleStoreSuite(name: string, make: () => Promise<PeopleGround>): void {
  describe(`people in ${name}`, () => {
    userTests(make);
    memberTests(make);
    invitationTests(make);
    tokenTests(make);
    resetTests(make);
  });
}

function userTests(make: () => Promise<PeopleGround>): void {
  test("of two first administrators at the same moment one is made", async () => {
    await using ground = await make();
    const { people } = ground;
    await ground.user("ada");
    expect(await people.administratorExists()).toBe(false);
    const made = await Promise.all(
      ["ada", "eve"].map((name) =>
        people.makeFirstAdministrator({ email: `${name}@example.com`, name, passwordHash: "hash" }, auditSource),
      ),
    );
    expect(made.toSorted()).toEqual([false, true]);
    expect(await people.administratorExists()).toBe(true);
  });

  test("the last administrator who can sign in is neither demoted, disabled nor removed", async () => {
    await using ground = await make();
    const { people } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await people.updateUser(ada, { administrator: true }, auditSource);
    await people.updateUser(bob, { administrator: true, disabled: true }, auditSource);
    await expect(people.updateUser(ada, { administrator: false }, auditSource)).rejects.toMatchObject(conflict);
    await expect(people.updateUser(ada, { disabled: true }, auditSource)).rejects.toMatchObject(conflict);
    await expect(people.removeUser(ada, null, auditSource)).rejects.toMatchObject(conflict);
    await people.updateUser(bob, { disabled: false }, auditSource);
    expect(await people.updateUser(ada, { administrator: false }, auditSource)).toMatchObject({ administrator: false });
  });

  test("of two administrators who demote each other at the same moment one stays", async () => {
    await using ground = await make();
    const { people } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await people.updateUser(ada, { administrator: true }, auditSource);
    await people.updateUser(bob, { administrator: true }, auditSource);
    const both = await Promise.allSettled([
      people.updateUser(ada, { administrator: false }, auditSource),
      people.updateUser(bob, { administrator: false }, auditSource),
    ]);
    expect(both.map((each) => each.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await people.administratorExists()).toBe(true);
  });

  test("a disabled user has no rights, and nobody has rights who is not there", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const ada = await ground.user("ada");
    await people.setMember(acme, ada, "admin", auditSource);
    expect(await people.rightsOf(ada)).toEqual({ administrator: false, roles: new Map([[acme, "admin"]]) });
    await people.updateUser(ada, { disabled: true }, auditSource);
    expect(await people.rightsOf(ada)).toBeNull();
    expect(await people.rightsOf("usr_nobody")).toBeNull();
    await expect(people.updateUser("usr_nobody", { disabled: true }, auditSource)).rejects.toMatchObject(notFound);
  });

  test("users are listed by address, page by page, and found by part of address or name in any case", async () => {
    await using ground = await make();
    const { people } = ground;
    for (const name of ["carl", "ada", "under_score", "bob", "percent%"]) await ground.user(name);
    const first = await people.listUsers(null, null, 2);
    expect(first.data.map((user) => user.name)).toEqual(["ada", "bob"]);
    const rest = await people.listUsers(null, first.next, 3);
    expect([rest.data.map((user) => user.name), rest.next]).toEqual([["carl", "percent%", "under_score"], null]);
    const search = async (text: string) => (await people.listUsers(text, null, 9)).data.map((user) => user.name);
    expect(await search("ADA")).toEqual(["ada"]);
    expect(await search("_")).toEqual(["under_score"]);
    expect(await search("%")).toEqual(["percent%"]);
    expect(await search("\\")).toEqual([]);
    await expect(people.listUsers(null, "nonsense", 2)).rejects.toMatchObject({ param: "cursor" });
  });

  test("a removed user leaves nothing that grants: no role, no token, no invitation, no reset", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await people.updateUser(bob, { administrator: true }, auditSource);
    await people.setMember(acme, ada, "admin", auditSource);
    await people.createToken(newToken(ada, acme), auditSource);
    await people.invite(newInvitation(ada, acme), auditSource);
    await people.createReset(ada, "reset", ground.clock.now() + 1_000, auditSource);
    await people.removeUser(ada, null, auditSource);
    expect(await people.rightsOf(ada)).toBeNull();
    expect((await people.listTokens(null, null, 9)).data).toEqual([]);
    expect(await people.listInvitations(acme)).toEqual([]);
    expect(await people.takeReset("reset")).toBeNull();
  });
}

function memberTests(make: () => Promise<PeopleGround>): void {
  test("what limits a member stands with them, in one workspace, and is there when they come back", async () => {
    await using ground = await make();
    const { people, acme, other } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
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
    // Without a role nobody becomes a member, and nothing is written.
    await expect(people.updateMember(other, bob, { limits }, auditSource)).rejects.toMatchObject(notFound);
    expect(await people.limitedPeople({ workspaceId: other }, 9)).toEqual([]);
    await people.removeMember(acme, ada, { keys: null }, auditSource);
    expect(await people.setMember(acme, ada, "member", auditSource)).toMatchObject({ limits, budget });
    await people.updateMember(acme, ada, { limits: {}, budget: null }, auditSource);
    expect(await people.limitedPeople({ workspaceId: null }, 9)).toEqual([]);
    const rows = await ground.database.kysely
      .selectFrom("audit_log")
      .select(["object", "before", "after"])
      .where("object", "=", "member acme/ada@example.com")
      .where("after", "like", "%budget%")
      .orderBy("seq")
      .execute();
    const told = rows.map(({ before, after }) => [JSON.parse(before ?? "").budget, JSON.parse(after ?? "").budget]);
    expect(told).toEqual([
      [null, { nanoUsd: 50_000_000_000, period: "month" }],
      [{ nanoUsd: 50_000_000_000, period: "month" }, null],
    ]);
  });

  test("a workspace keeps its last owner who can sign in", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
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

  test("who is removed takes along the tokens and invitations they made there, also should they come back", async () => {
    await using ground = await make();
    const { people, acme, other } = ground;
    const ada = await ground.user("ada");
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
    await expect(people.removeMember(acme, "usr_nobody", { keys: null }, auditSource)).rejects.toMatchObject(notFound);
    await expect(people.setMember("ws_none", ada, "viewer", auditSource)).rejects.toMatchObject(notFound);
  });

  test("whether somebody may be changed or removed is asked of what they hold in the write itself", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await people.setMember(acme, bob, "owner", auditSource);
    await people.setMember(acme, ada, "owner", auditSource);
    const held: unknown[] = [];
    const allow = (role: string | null) => {
      held.push(role);
      if (role === "owner") throw new Failure("forbidden", "They stand above you.");
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
    expect(held).toEqual(["owner", "owner", "member", "viewer", null]);
  });

  test("every change leaves its audit row with before and after, its workspace and where it came from", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const ada = await ground.user("ada");
    await people.setMember(acme, ada, "viewer", auditSource);
    await people.setMember(acme, ada, "viewer", auditSource);
    await people.setMember(acme, ada, "member", auditSource);
    await people.removeMember(acme, ada, { keys: null }, auditSource);
    const rows = await ground.database.kysely
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

function invitationTests(make: () => Promise<PeopleGround>): void {
  test("of two who accept one invitation at the same moment one is let in", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const [ada, bob, carl] = [await ground.user("ada"), await ground.user("bob"), await ground.user("carl")];
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

  test("an invitation ends with its time, and a newer one to the same place takes its place", async () => {
    await using ground = await make();
    const { people, acme, other, clock } = ground;
    const ada = await ground.user("ada");
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

  test("accepting fails while the inviter may not invite, and the invitation stays", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await people.setMember(acme, ada, "admin", auditSource);
    const { id } = await people.invite(newInvitation(ada, acme), auditSource);
    const accept = (least: string) =>
      people.acceptInvitation(
        id,
        { user: { id: bob }, sessionId: null, mayInvite: ({ roles }) => roles.get(acme) === least },
        auditSource,
      );
    await people.setMember(acme, ada, "viewer", auditSource);
    expect([await accept("admin"), (await people.invitation(id))?.id]).toEqual([false, id]);
    expect([await accept("viewer"), await people.invitation(id)]).toEqual([true, null]);
    expect((await people.rightsOf(bob))?.roles.has(acme)).toBe(true);
  });

  test("accepting never takes away: who holds more keeps it", async () => {
    await using ground = await make();
    const { people, acme } = ground;
    const ada = await ground.user("ada");
    await people.setMember(acme, ada, "owner", auditSource);
    const { id } = await people.invite(newInvitation(ada, acme), auditSource);
    expect(await people.acceptInvitation(id, { user: { id: ada }, sessionId: null, mayInvite }, auditSource)).toBe(
      true,
    );
    expect(await people.listMembers(acme)).toMatchObject([{ role: "owner" }]);
  });

  test("a place has a bounded number of open invitations", async () => {
    await using ground = await make();
    const { people, acme, database, clock } = ground;
    const ada = await ground.user("ada");
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

  test("what a removed user or workspace offered goes with them", async () => {
    await using ground = await make();
    const { people, acme, database } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await people.invite(newInvitation(ada, acme, "one"), auditSource);
    await people.createToken(newToken(bob, acme), auditSource);
    await ground.remove(ada);
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
