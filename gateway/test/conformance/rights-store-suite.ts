import { describe, expect, test } from "bun:test";
import type { RightsRule } from "@sluice/contract/config-file";
import fc from "fast-check";
import { Secret } from "#core/index.ts";
import { auditRows, by, groupOf, heldBy, move, type RightsGround, signAgentIn } from "./rights-facts.ts";

const corp = "oidc:corp";

const group = (value: string, gives: Partial<RightsRule>): RightsRule => ({
  claim: "groups",
  contains: value,
  name: value,
  ...gives,
});
const rules: readonly RightsRule[] = [
  group("eng", { workspace: "acme", role: "member" }),
  group("leads", { workspace: "other", role: "admin" }),
  group("root", { administrator: true }),
];

/** Rules of rights by sources that hold whatever the database is. */
export function rightsStoreSuite(name: string, make: () => Promise<RightsGround>): void {
  describe(`rights by sources in ${name}`, () => {
    givingTests(make);
    handTests(make);
    lastTests(make);
    groupTests(make);
    settleTests(make);
    propertyTests(make);
    refreshTests(make);
  });
}

function givingTests(make: () => Promise<RightsGround>): void {
  test("claims give rights, the same claims change nothing, and other claims take them away again", async () => {
    await using ground = await make();
    const { rights } = ground;
    const ada = await ground.user("ada");
    await rights.putRules(corp, rules, by);
    const say = (...groups: string[]) => rights.applyClaims({ userId: ada, source: corp, claims: { groups } }, by);
    await say("eng", "leads", "unknown");
    expect(await heldBy(ground, ada)).toEqual({ administrator: false, acme: "member", other: "admin" });
    expect(await rights.rightsOfUser(ada)).toEqual([
      { source: corp, workspace: "acme", role: "member", group: null, rules: "eng" },
      { source: corp, workspace: "other", role: "admin", group: null, rules: "leads" },
    ]);
    const before = await auditRows(ground);
    expect(before.slice(-2).map((row) => [row.actor, row.action, row.object])).toEqual([
      ["ada@example.com", "create", "member acme/ada@example.com"],
      ["ada@example.com", "create", "member other/ada@example.com"],
    ]);
    await say("eng", "leads", "unknown");
    expect(await auditRows(ground)).toEqual(before);
    await say("leads");
    expect(await heldBy(ground, ada)).toEqual({ administrator: false, other: "admin" });
    expect((await auditRows(ground)).at(-1)).toMatchObject({ action: "remove", object: "member acme/ada@example.com" });
    await say();
    expect(await heldBy(ground, ada)).toEqual({ administrator: false });
    expect(await rights.rightsOfUser(ada)).toEqual([]);
  });

  test("two sources give side by side, the highest counts, and each takes only its own", async () => {
    await using ground = await make();
    const { rights } = ground;
    const ada = await ground.user("ada");
    await rights.putRules(corp, rules, by);
    await rights.putRules("scim", [{ claim: "groups", contains: "Admins", workspace: "acme", role: "admin" }], by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng"] } }, by);
    await rights.applyClaims({ userId: ada, source: "scim", claims: { groups: ["Admins"] } }, by);
    expect(await heldBy(ground, ada)).toMatchObject({ acme: "admin" });
    await rights.applyClaims({ userId: ada, source: "scim", claims: { groups: [] } }, by);
    expect(await heldBy(ground, ada)).toMatchObject({ acme: "member" });
    await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by);
    expect(await heldBy(ground, ada)).toEqual({ administrator: false });
  });

  test("who loses a workspace loses agents and the working of keys there, and a rise ends other sessions", async () => {
    await using ground = await make();
    const { rights, agents, controlStore } = ground;
    const ada = await ground.user("ada");
    await rights.putRules(corp, rules, by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng"] } }, by);
    await signAgentIn(ground, ada);
    const key = { name: "mine", secret: new Secret("a-secret-of-this-test-7b1d"), createdBy: ada };
    await controlStore.addKey(ground.acme, key, by);
    expect(await agents.sessions({ userId: ada })).toHaveLength(1);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: [] } }, by);
    expect(await agents.sessions({ userId: ada })).toEqual([]);
    const keys = await ground.database.kysely.selectFrom("api_keys").select(["name", "enabled"]).execute();
    expect(keys.find(({ name }) => name === "mine")?.enabled).toBe(0);
  });

  test("rules name what is there, and an account of the file has the file's", async () => {
    await using ground = await make();
    const { rights, controlStore } = ground;
    const put = (rule: Partial<RightsRule>) => rights.putRules(corp, [group("eng", rule)], by);
    await expect(put({ workspace: "gone", role: "member" })).rejects.toMatchObject({ param: "rules.0.workspace" });
    await expect(put({ workspace: "acme", group: "gone" })).rejects.toMatchObject({ param: "rules.0.group" });
    const account = { id: "corp", issuer: "https://id.example.com", client_id: "c", client_secret: "s" };
    const wrong = [{ claim: "groups", contains: "x", workspace: "gone", role: "viewer" as const }];
    await expect(controlStore.apply({ oidc: [{ ...account, rules: wrong }] }, "file")).rejects.toThrow();
    await controlStore.apply({ oidc: [{ ...account, rules: [...rules] }] }, "file");
    expect(await rights.rules(corp)).toEqual([...rules]);
    await expect(put({ workspace: "acme", role: "owner" })).rejects.toMatchObject({ code: "managed_by_file" });
    // Suspended with its rules, so that rights are there when the file declares the account again.
    await controlStore.apply({ oidc: [] }, "file");
    expect(await rights.rules(corp)).toEqual([...rules]);
  });

  test("users of the config file hold what the file says, whatever their issuer says", async () => {
    await using ground = await make();
    const { rights, controlStore, people } = ground;
    const ada = await ground.user("ada");
    await rights.putRules(corp, rules, by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng"] } }, by);
    await controlStore.apply({ users: [{ email: "ada@example.com", workspaces: [] }] }, "file");
    expect(await heldBy(ground, ada)).toEqual({ administrator: false });
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng", "root"] } }, by);
    expect(await heldBy(ground, ada)).toEqual({ administrator: false });
    expect((await people.user(ada))?.disabled).toBe(false);
  });
}

function handTests(make: () => Promise<RightsGround>): void {
  test("what was given by hand before or after stays when the source takes its own away", async () => {
    await using ground = await make();
    const { rights, people } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await rights.putRules(corp, rules, by);
    await people.setMember(ground.acme, ada, "viewer", by);
    const say = (userId: string, ...groups: string[]) =>
      rights.applyClaims({ userId, source: corp, claims: { groups } }, by);
    await say(ada, "eng");
    expect(await heldBy(ground, ada)).toMatchObject({ acme: "member" });
    await say(ada);
    expect(await heldBy(ground, ada)).toMatchObject({ acme: "viewer" });

    await say(bob, "eng");
    await people.setMember(ground.acme, bob, "admin", by);
    await say(bob, "eng", "leads");
    await say(bob);
    expect(await heldBy(ground, bob)).toEqual({ administrator: false, acme: "admin" });
    await people.removeMember(ground.acme, bob, { keys: null }, by);
    expect(await heldBy(ground, bob)).toEqual({ administrator: false });
  });

  test("by hand nobody gets less than a source gives; what was more by hand is taken back", async () => {
    await using ground = await make();
    const { rights, people } = ground;
    const [ada, root] = [await ground.user("ada"), await ground.user("root")];
    await people.updateUser(root, { administrator: true }, by);
    await rights.putRules(corp, rules, by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng", "root"] } }, by);
    const conflict = { code: "conflict" };
    await expect(people.setMember(ground.acme, ada, "viewer", by)).rejects.toMatchObject(conflict);
    await expect(people.removeMember(ground.acme, ada, { keys: null }, by)).rejects.toMatchObject(conflict);
    await expect(people.updateUser(ada, { administrator: false }, by)).rejects.toMatchObject(conflict);
    await people.setMember(ground.acme, ada, "owner", by);
    await people.setMember(ground.acme, root, "owner", by);
    await people.setMember(ground.acme, ada, "member", by);
    await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by);
    expect(await heldBy(ground, ada)).toEqual({ administrator: false });
  });
}

function lastTests(make: () => Promise<RightsGround>): void {
  test("the last administrator and a workspace's last owner stay, are told of, and go when there is another", async () => {
    await using ground = await make();
    const { rights, people } = ground;
    const [ada, bob] = [await ground.user("ada"), await ground.user("bob")];
    await rights.putRules(corp, [...rules, group("eng", { workspace: "other", role: "owner", name: "all" })], by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng", "root"] } }, by);
    expect(await heldBy(ground, ada)).toEqual({ administrator: true, acme: "member", other: "owner" });
    const kept = await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by);
    expect(kept).toEqual([
      expect.stringContaining("ada@example.com is the last administrator"),
      expect.stringContaining("the last owner of the workspace other"),
    ]);
    expect(await heldBy(ground, ada)).toEqual({ administrator: true, other: "owner" });
    await people.updateUser(bob, { administrator: true }, by);
    await people.setMember(ground.other, bob, "owner", by);
    expect(await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by)).toEqual([]);
    expect(await heldBy(ground, ada)).toEqual({ administrator: false });
  });
}

function groupTests(make: () => Promise<RightsGround>): void {
  test("the agents' key stands in the group that rules name, until an admin moves it", async () => {
    await using ground = await make();
    const { rights, controlStore } = ground;
    const ada = await ground.user("ada");
    for (const name of ["gold", "silver"]) {
      await controlStore.addGroup(ground.acme, { name }, by);
    }
    await rights.putRules(
      corp,
      [
        group("eng", { workspace: "acme", role: "member" }),
        group("rich", { workspace: "acme", group: "gold" }),
        group("eng", { workspace: "acme", group: "silver" }),
      ],
      by,
    );
    const say = (...groups: string[]) => rights.applyClaims({ userId: ada, source: corp, claims: { groups } }, by);
    await say("eng", "rich");
    await signAgentIn(ground, ada);
    expect(await groupOf(ground, ada)).toBe("gold");
    await say("eng");
    expect(await groupOf(ground, ada)).toBe("silver");
    await move(ground, ada, "default");
    await say("eng", "rich");
    expect(await groupOf(ground, ada)).toBe("default");
    await move(ground, ada, "gold");
    await say("eng");
    expect(await groupOf(ground, ada)).toBe("silver");
    await rights.putRules(corp, [group("eng", { workspace: "acme", role: "member" })], by);
    await rights.reapplyAllRules();
    expect(await groupOf(ground, ada)).toBe("default");
  });
}

function settleTests(make: () => Promise<RightsGround>): void {
  test("a rule that is removed takes away only what it gave, from everybody, at once", async () => {
    await using ground = await make();
    const { rights, people } = ground;
    const everybody = await Promise.all(["a", "b", "c"].map((name) => ground.user(name)));
    await rights.putRules(corp, rules, by);
    await people.setMember(ground.other, everybody[0] ?? "", "viewer", by);
    for (const userId of everybody)
      await rights.applyClaims({ userId, source: corp, claims: { groups: ["eng", "leads"] } }, by);
    await rights.putRules(corp, rules.slice(0, 1), by);
    await rights.reapplyAllRules();
    const held = await Promise.all(everybody.map((userId) => heldBy(ground, userId)));
    expect(held).toEqual([
      { administrator: false, acme: "member", other: "viewer" },
      { administrator: false, acme: "member" },
      { administrator: false, acme: "member" },
    ]);
    const rows = await auditRows(ground);
    expect(rows.at(-1)).toMatchObject({ actor: "rules of single sign-on corp", action: "remove" });
    await rights.reapplyAllRules();
    expect(await auditRows(ground)).toEqual(rows);
  });

  test("a rule that reads what was not read before waits until the source speaks again, and takes nothing meanwhile", async () => {
    await using ground = await make();
    const { rights } = ground;
    const ada = await ground.user("ada");
    await rights.putRules(corp, rules, by);
    const claims = { groups: ["eng", "leads"], department: "R&D" };
    await rights.applyClaims({ userId: ada, source: corp, claims }, by);
    const byDepartment: RightsRule = { claim: "department", equals: "R&D", workspace: "acme", role: "admin" };
    await rights.putRules(corp, [byDepartment], by);
    await rights.reapplyAllRules();
    expect(await heldBy(ground, ada)).toEqual({ administrator: false, acme: "member" });
    await rights.applyClaims({ userId: ada, source: corp, claims }, by);
    expect(await heldBy(ground, ada)).toEqual({ administrator: false, acme: "admin" });
  });

  test("claims that are tried change nothing", async () => {
    await using ground = await make();
    const before = await auditRows(ground);
    const tried = await ground.rights.tryClaims(rules, { groups: ["eng", "root"] });
    expect(tried.administrator).toBe("root");
    expect(tried.places).toEqual([{ workspace: "acme", role: "member", group: null, rules: "eng" }]);
    expect(tried.findings.map(({ matched }) => matched)).toEqual([true, false, true]);
    expect(await auditRows(ground)).toEqual(before);
  });
}

function propertyTests(make: () => Promise<RightsGround>): void {
  test("whatever was said and ruled before, rights are those of the last word and what was given by hand", async () => {
    await using ground = await make();
    const { rights, people } = ground;
    const root = await ground.user("root");
    await people.updateUser(root, { administrator: true }, by);
    for (const workspaceId of [ground.acme, ground.other]) await people.setMember(workspaceId, root, "owner", by);
    let count = 0;
    const places = ["acme", "other"] as const;
    const role = fc.constantFrom("viewer", "member", "admin", "owner");
    const rule = fc.record({
      claim: fc.constant("groups"),
      contains: fc.constantFrom("a", "b", "c"),
      workspace: fc.constantFrom(...places),
      role,
    });
    const turn = fc.record({
      rules: fc.array(rule, { maxLength: 4 }),
      groups: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
      source: fc.constantFrom("oidc:corp", "scim"),
    });
    const manual = fc.record({ acme: fc.option(role), other: fc.option(role) });
    await fc.assert(
      fc.asyncProperty(manual, fc.array(turn, { minLength: 1, maxLength: 4 }), async (hand, turns) => {
        const userId = await ground.user(`u${count++}`);
        for (const place of places) {
          const given = hand[place];
          if (given !== null) await people.setMember(ground[place], userId, given as "owner", by);
        }
        const last = new Map<string, (typeof turns)[number]>();
        for (const one of turns) {
          const source = one.source as "scim";
          await rights.putRules(source, one.rules as RightsRule[], by);
          await rights.applyClaims({ userId, source, claims: { groups: one.groups } }, by);
          await rights.applyClaims({ userId, source, claims: { groups: one.groups } }, by);
          last.set(source, one);
        }
        const expected: Record<string, unknown> = { administrator: false };
        for (const place of places) {
          const all = [...last.values()].map(
            (one) =>
              one.rules.find((each) => each.workspace === place && one.groups.includes(each.contains as "a"))?.role,
          );
          const highest = ["owner", "admin", "member", "viewer"].find((each) =>
            [...all, hand[place]].includes(each as "owner"),
          );
          if (highest !== undefined) expected[place] = highest;
        }
        expect(await heldBy(ground, userId)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });
}

function refreshTests(make: () => Promise<RightsGround>): void {
  test("an issuer's refresh token is sealed, asked for by one, and its end ends agents and sessions", async () => {
    await using ground = await make();
    const { rights, agents, database } = ground;
    const ada = await ground.user("ada");
    await rights.putRules(corp, rules, by);
    const said = { userId: ada, source: corp, claims: { groups: ["eng"] } } as const;
    await rights.applyClaims({ ...said, refreshToken: new Secret("canary-token") }, by);
    await signAgentIn(ground, ada);
    const stored = await database.kysely.selectFrom("person_claims").selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain("canary-token");
    const [asked] = await rights.issuerChecks(ada);
    if (asked === undefined) throw new Error("there is no issuer to ask");
    expect(asked.refreshToken.reveal()).toBe("canary-token");
    ground.clock.advance(1_000);
    const begun = await Promise.all([1, 2, 3].map(() => rights.beginIssuerCheck(ada, asked)));
    expect(begun.filter((one) => one)).toHaveLength(1);
    // A claim without a word on the token leaves it.
    await rights.applyClaims(said, by);
    expect(await rights.issuerChecks(ada)).toHaveLength(1);
    expect(await rights.revokeByIssuer(ada, { ...asked, refreshToken: new Secret("an older one") }, by)).toBe(false);
    expect(await agents.sessions({ userId: ada })).toHaveLength(1);
    expect(await rights.revokeByIssuer(ada, asked, by)).toBe(true);
    expect(await agents.sessions({ userId: ada })).toEqual([]);
    expect(await rights.issuerChecks(ada)).toEqual([]);
    expect((await auditRows(ground)).at(-1)).toMatchObject({
      action: "sessions-ended",
      object: "user ada@example.com",
    });
    expect(await heldBy(ground, ada)).toMatchObject({ acme: "member" });
  });
}
