import { describe, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { PeopleStore, RightsStore, ScimFilter, ScimStore, ScimUserForm } from "#directory/index.ts";
import type { AuditSource, NewIdentity } from "#ports/index.ts";
import type { Database } from "#storage/index.ts";

export interface ScimStoreFixture extends AsyncDisposable {
  readonly database: Database;
  readonly people: PeopleStore;
  readonly scim: ScimStore;
  readonly rights: RightsStore;
  readonly acme: string;
  user(name: string): Promise<string>;
}

const by: AuditSource = { actor: "SCIM (token test)", ip: null };
const everything = { filter: null, offset: 0, limit: 100 };
const noCheck = () => {};

function form(name: string, more: Partial<ScimUserForm> = {}): ScimUserForm {
  const userName = `${name}@corp.example`;
  return { userName, externalId: `x-${name}`, active: true, email: userName, name, attributes: {}, ...more };
}

const is = (path: string, value: string | boolean, comparison: "eq" | "co" | "ne" = "eq"): ScimFilter => ({
  kind: "compare",
  path,
  comparison,
  value,
});

/** Rules for SCIM users and groups that hold on every database. */
export function scimStoreSuite(name: string, make: () => Promise<ScimStoreFixture>): void {
  describe(`SCIM users and groups in ${name}`, () => {
    userTests(make);
    groupTests(make);
    connectionTests(make);
    rightsTests(make);
  });
}

function userTests(make: () => Promise<ScimStoreFixture>): void {
  test("creates one of several concurrent users with the same name or address", async () => {
    await using fixture = await make();
    const tries = [
      form("ada"),
      form("ADA", { email: "other@corp.example" }),
      form("ada"),
      form("bob", { email: "ada@corp.example" }),
    ];
    const all = await Promise.allSettled(tries.map((each) => fixture.scim.createUser(each, by)));
    const created = all.filter(({ status }) => status === "fulfilled").length;
    const { total } = await fixture.scim.users(everything);
    expect(created).toBe(total);
    const names = (await fixture.scim.users(everything)).items.map(({ userName }) => userName.toLowerCase());
    expect([new Set(names).size, names.filter((each) => each === "ada@corp.example").length]).toEqual([
      names.length,
      1,
    ]);
    for (const each of all) if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "conflict" });
  });

  test("filters and pages count the same users", async () => {
    await using fixture = await make();
    for (const name of ["ada", "bob", "carl%"]) await fixture.scim.createUser(form(name), by);
    const { id } = (await fixture.scim.users({ ...everything, filter: is("username", "BOB@corp.example") }))
      .items[0] ?? {
      id: "",
    };
    await fixture.scim.changeUser(id, (before) => ({ ...before, active: false }), by);
    const found = async (filter: ScimFilter) => {
      const { total, items } = await fixture.scim.users({ ...everything, filter });
      expect(items).toHaveLength(total);
      return items.map((user) => user.name);
    };
    expect(await found(is("active", false))).toEqual(["bob"]);
    expect(await found(is("username", "%", "co"))).toEqual(["carl%"]);
    expect(await found(is("externalid", "x-ada", "ne"))).toEqual(["bob", "carl%"]);
    expect(await found({ kind: "some", path: "emails", filter: is("value", "ada@corp.example") })).toEqual(["ada"]);
    expect(await found({ kind: "not", part: { kind: "or", parts: [is("displayname", "ADA"), is("id", id)] } })).toEqual(
      ["carl%"],
    );
    const page = await fixture.scim.users({ filter: null, offset: 1, limit: 1 });
    expect([page.total, page.items.map((user) => user.name)]).toEqual([3, ["bob"]]);
  });

  test("frees the name of a deleted user, and restores the same person when they return", async () => {
    await using fixture = await make();
    const { id } = await fixture.scim.createUser(form("ada"), by);
    await fixture.scim.removeUser(id, noCheck, by);
    expect(await fixture.scim.user(id)).toBeNull();
    expect(await fixture.people.user(id)).toMatchObject({ disabled: true });
    expect(await fixture.scim.createUser(form("ada"), by)).toMatchObject({ id, active: true });
    expect(await fixture.scim.stats()).toEqual({ users: 1, inactive: 0, groups: 0, lastRequestAt: null, tokens: 0 });
  });

  test("rolls back a change whose callback throws", async () => {
    await using fixture = await make();
    const { id, version } = await fixture.scim.createUser(form("ada"), by);
    const wrong = () => {
      throw new Error("412");
    };
    await expect(fixture.scim.changeUser(id, wrong, by)).rejects.toThrow("412");
    await expect(fixture.scim.removeUser(id, wrong, by)).rejects.toThrow("412");
    expect(await fixture.scim.user(id)).toMatchObject({ version, active: true });
  });
}

function groupTests(make: () => Promise<ScimStoreFixture>): void {
  test("adds, removes and sets members, rejects unknown ones as a whole, and removes deleted users", async () => {
    await using fixture = await make();
    const { scim } = fixture;
    const ids: string[] = [];
    for (const name of ["ada", "bob", "carl"]) ids.push((await scim.createUser(form(name), by)).id);
    const [ada = "", bob = "", carl = ""] = ids;
    const { id } = await scim.createGroup({ displayName: "Engineers", members: [{ what: "set", userIds: [ada] }] }, by);
    const members = async () => (await scim.group(id, true))?.members?.map((member) => member.id).toSorted();
    const change = (what: "add" | "remove" | "set", userIds: readonly string[]) => ({ what, userIds });
    const changeMembers = (...members: readonly ReturnType<typeof change>[]) =>
      scim.changeGroup(id, () => ({ members }), by);
    await changeMembers(change("add", [ada, bob]), change("remove", [ada]), change("add", [carl]));
    expect(await members()).toEqual([bob, carl].toSorted());
    await expect(changeMembers(change("add", [ada, "usr_none"]))).rejects.toMatchObject({ code: "invalid_request" });
    expect(await members()).toEqual([bob, carl].toSorted());
    await changeMembers(change("add", [ada]), change("set", [carl, ada]), change("remove", ["usr_none"]));
    expect(await members()).toEqual([ada, carl].toSorted());
    await scim.removeUser(carl, noCheck, by);
    expect(await members()).toEqual([ada]);
    expect((await scim.user(ada))?.groups).toEqual([{ id, displayName: "Engineers" }]);
    const listed = await scim.groups({ ...everything, filter: is("members", ada) }, false);
    expect(listed).toMatchObject({ total: 1, items: [{ id, members: null }] });
    await expect(scim.createGroup({ displayName: "ENGINEERS", members: [] }, by)).rejects.toMatchObject({
      param: "displayName",
    });
    await scim.removeGroup(id, noCheck, by);
    expect((await scim.user(ada))?.groups).toEqual([]);
  });

  test("limits the number of members of a group", async () => {
    await using fixture = await make();
    const { scim } = fixture;
    const many = Array.from({ length: bounds.scimGroupMembersMax + 1 }, (_, number) => `usr_${number}`);
    const tooMany = scim.createGroup({ displayName: "All", members: [{ what: "set", userIds: many }] }, by);
    await expect(tooMany).rejects.toMatchObject({ code: "invalid_request" });
    expect((await scim.groups(everything, true)).total).toBe(0);
  });
}

function connectionTests(make: () => Promise<ScimStoreFixture>): void {
  const identity = (more: Partial<NewIdentity> = {}): NewIdentity => ({
    provider: "corp",
    issuer: "https://issuer.example",
    subject: "s-1",
    directoryIds: [],
    verifiedEmail: "unknown@corp.example",
    mayVouchFor: (email) => email.endsWith("@corp.example"),
    ...more,
  });
  const accounts = async (fixture: ScimStoreFixture) =>
    (await fixture.database.kysely.selectFrom("auth_accounts").select(["user_id", "account_id"]).execute()).map(
      ({ user_id, account_id }) => `${user_id} ${account_id}`,
    );

  test("connects a SCIM user once, by a verified address or the directory's id", async () => {
    await using fixture = await make();
    const { scim } = fixture;
    const [ada, bob] = [await scim.createUser(form("ada"), by), await scim.createUser(form("bob"), by)];
    await scim.connect(identity());
    await scim.connect(identity({ verifiedEmail: "ada@corp.example", mayVouchFor: () => false }));
    await scim.connect(identity({ verifiedEmail: "ada@corp.example", directoryIds: ["x-bob"] }));
    expect(await accounts(fixture)).toEqual([]);
    await Promise.all([1, 2].map(() => scim.connect(identity({ verifiedEmail: "ada@corp.example" }))));
    await scim.connect(identity({ subject: "s-2", verifiedEmail: "ada@corp.example" }));
    const outsider = { verifiedEmail: "x@partner.example", directoryIds: ["x-bob"] };
    await scim.connect(identity({ ...outsider, mayVouchFor: (email) => email === "x@partner.example" }));
    await scim.connect(identity({ ...outsider, mayVouchFor: (email) => email === "bob@corp.example" }));
    await scim.connect(identity({ subject: "s-3", directoryIds: ["s-3", "x-bob"] }));
    expect((await accounts(fixture)).toSorted()).toEqual([`${ada.id} s-1`, `${bob.id} s-3`].toSorted());
  });

  test("connects no administrator, no earlier user and no disabled user", async () => {
    await using fixture = await make();
    const { scim, people } = fixture;
    const ada = await scim.createUser(form("ada"), by);
    await people.updateUser(ada.id, { administrator: true }, by);
    const here = await fixture.user("here");
    const connected = await scim.createUser(form("here", { email: "here@example.com" }), by);
    expect(connected.id).toBe(here);
    const off = await scim.createUser(form("off", { active: false }), by);
    expect(off.active).toBe(false);
    for (const verifiedEmail of [ada.email, connected.email, off.email]) {
      await scim.connect(identity({ verifiedEmail, mayVouchFor: () => true }));
    }
    expect(await accounts(fixture)).toEqual([]);
  });
}

function rightsTests(make: () => Promise<ScimStoreFixture>): void {
  const rule = {
    name: "engineers",
    claim: "groups",
    contains: "Engineers",
    workspace: "acme",
    role: "member",
  } as const;
  const member = (userIds: readonly string[], what: "add" | "remove" = "add") => ({ members: [{ what, userIds }] });

  test("grants a group's rights until the member leaves, or the group is renamed or deleted", async () => {
    await using fixture = await make();
    const { scim, rights, people, acme } = fixture;
    await rights.putRules("scim", [rule], by);
    const { id: ada } = await scim.createUser(form("ada"), by);
    const role = async () => (await people.rightsOf(ada))?.roles.get(acme) ?? null;
    const { id } = await scim.createGroup({ displayName: "Engineers", members: [] }, by);
    expect(await role()).toBeNull();
    await scim.changeGroup(id, () => member([ada]), by);
    expect(await role()).toBe("member");
    expect(await rights.rightsOfUser(ada)).toMatchObject([{ source: "scim", workspace: "acme", role: "member" }]);
    await scim.changeGroup(id, () => ({ displayName: "Makers", members: [] }), by);
    expect(await role()).toBeNull();
    await scim.changeGroup(id, () => ({ displayName: "Engineers", members: [] }), by);
    expect(await role()).toBe("member");
    await scim.changeGroup(id, () => member([ada], "remove"), by);
    expect(await role()).toBeNull();
    await scim.changeGroup(id, () => member([ada]), by);
    await scim.removeGroup(id, noCheck, by);
    expect(await role()).toBeNull();
  });

  test("applies later rules to existing groups, and grants nothing to a deleted user", async () => {
    await using fixture = await make();
    const { scim, rights, people, acme } = fixture;
    const { id: ada } = await scim.createUser(form("ada"), by);
    await scim.createGroup({ displayName: "Engineers", members: [{ what: "set", userIds: [ada] }] }, by);
    const role = async () => (await people.rightsOf(ada))?.roles.get(acme) ?? null;
    await rights.putRules("scim", [rule], by);
    await rights.reapplyAllRules();
    expect(await role()).toBe("member");
    await rights.putRules("scim", [{ ...rule, role: "admin" }], by);
    await rights.reapplyAllRules();
    expect(await role()).toBe("admin");
    await rights.putRules("scim", [], by);
    await rights.reapplyAllRules();
    expect(await role()).toBeNull();
    await rights.putRules("scim", [rule], by);
    await rights.reapplyAllRules();
    await scim.removeUser(ada, noCheck, by);
    await people.updateUser(ada, { disabled: false }, by);
    expect(await role()).toBeNull();
  });

  test("grants rights to all members of a very large group", async () => {
    await using fixture = await make();
    const { scim, rights, people, acme } = fixture;
    await rights.putRules("scim", [rule], by);
    const ids: string[] = [];
    for (let number = 0; number <= bounds.rightsAtOnceMax; number++) {
      ids.push((await scim.createUser(form(`u${number}`), by)).id);
    }
    const { id } = await scim.createGroup({ displayName: "Engineers", members: [{ what: "set", userIds: ids }] }, by);
    expect(await people.listMembers(acme)).toHaveLength(ids.length);
    await scim.changeGroup(id, () => ({ members: [{ what: "set", userIds: [] }] }), by);
    expect(await people.listMembers(acme)).toHaveLength(0);
  });
}
