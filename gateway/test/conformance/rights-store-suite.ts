import { describe, expect, test } from "bun:test";
import type { RightsRule } from "@sluice/contract/config-file";
import fc from "fast-check";
import { Secret } from "#core/index.ts";
import { auditRows, by, groupOf, move, type RightsFixture, rightsHeldBy, signAgentIn } from "./rights-facts.ts";

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

/** Rules of rights from sources that hold on every database. */
export function rightsStoreSuite(name: string, make: () => Promise<RightsFixture>): void {
  describe(`rights from sources in ${name}`, () => {
    grantTests(make);
    manualTests(make);
    lastTests(make);
    groupTests(make);
    settleTests(make);
    propertyTests(make);
    refreshTests(make);
  });
}

function grantTests(make: () => Promise<RightsFixture>): void {
  test("grants rights by claims, changes nothing for the same claims, and revokes them for other claims", async () => {
    await using fixture = await make();
    const { rights } = fixture;
    const ada = await fixture.user("ada");
    await rights.putRules(corp, rules, by);
    const applyGroups = (...groups: string[]) =>
      rights.applyClaims({ userId: ada, source: corp, claims: { groups } }, by);
    await applyGroups("eng", "leads", "unknown");
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false, acme: "member", other: "admin" });
    expect(await rights.rightsOfUser(ada)).toEqual([
      { source: corp, workspace: "acme", role: "member", group: null, rules: "eng" },
      { source: corp, workspace: "other", role: "admin", group: null, rules: "leads" },
    ]);
    const before = await auditRows(fixture);
    expect(before.slice(-2).map((row) => [row.actor, row.action, row.object])).toEqual([
      ["ada@example.com", "create", "member acme/ada@example.com"],
      ["ada@example.com", "create", "member other/ada@example.com"],
    ]);
    await applyGroups("eng", "leads", "unknown");
    expect(await auditRows(fixture)).toEqual(before);
    await applyGroups("leads");
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false, other: "admin" });
    expect((await auditRows(fixture)).at(-1)).toMatchObject({
      action: "remove",
      object: "member acme/ada@example.com",
    });
    await applyGroups();
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false });
    expect(await rights.rightsOfUser(ada)).toEqual([]);
  });

  test("combines the rights of two sources, where the highest counts and each source revokes only its own", async () => {
    await using fixture = await make();
    const { rights } = fixture;
    const ada = await fixture.user("ada");
    await rights.putRules(corp, rules, by);
    await rights.putRules("scim", [{ claim: "groups", contains: "Admins", workspace: "acme", role: "admin" }], by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng"] } }, by);
    await rights.applyClaims({ userId: ada, source: "scim", claims: { groups: ["Admins"] } }, by);
    expect(await rightsHeldBy(fixture, ada)).toMatchObject({ acme: "admin" });
    await rights.applyClaims({ userId: ada, source: "scim", claims: { groups: [] } }, by);
    expect(await rightsHeldBy(fixture, ada)).toMatchObject({ acme: "member" });
    await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by);
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false });
  });

  test("ends agent sign-ins and disables keys of a person who loses a workspace", async () => {
    await using fixture = await make();
    const { rights, agents, controlStore } = fixture;
    const ada = await fixture.user("ada");
    await rights.putRules(corp, rules, by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng"] } }, by);
    await signAgentIn(fixture, ada);
    const key = { name: "mine", secret: new Secret("a-secret-of-this-test-7b1d"), createdBy: ada };
    await controlStore.addKey(fixture.acme, key, by);
    expect(await agents.sessions({ userId: ada })).toHaveLength(1);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: [] } }, by);
    expect(await agents.sessions({ userId: ada })).toEqual([]);
    const keys = await fixture.database.kysely.selectFrom("api_keys").select(["name", "enabled"]).execute();
    expect(keys.find(({ name }) => name === "mine")?.enabled).toBe(0);
  });

  test("accepts only rules that name existing objects, and uses the file's rules for the file's accounts", async () => {
    await using fixture = await make();
    const { rights, controlStore } = fixture;
    const put = (rule: Partial<RightsRule>) => rights.putRules(corp, [group("eng", rule)], by);
    await expect(put({ workspace: "gone", role: "member" })).rejects.toMatchObject({ param: "rules.0.workspace" });
    await expect(put({ workspace: "acme", group: "gone" })).rejects.toMatchObject({ param: "rules.0.group" });
    const account = { id: "corp", issuer: "https://id.example.com", client_id: "c", client_secret: "s" };
    const wrong = [{ claim: "groups", contains: "x", workspace: "gone", role: "viewer" as const }];
    await expect(controlStore.apply({ oidc: [{ ...account, rules: wrong }] }, "file")).rejects.toThrow();
    await controlStore.apply({ oidc: [{ ...account, rules: [...rules] }] }, "file");
    expect(await rights.rules(corp)).toEqual([...rules]);
    await expect(put({ workspace: "acme", role: "owner" })).rejects.toMatchObject({ code: "managed_by_file" });
    // The account is suspended with its rules, which apply again when the file declares it.
    await controlStore.apply({ oidc: [] }, "file");
    expect(await rights.rules(corp)).toEqual([...rules]);
  });

  test("uses the file's rights for users of the config file, whatever their issuer claims", async () => {
    await using fixture = await make();
    const { rights, controlStore, people } = fixture;
    const ada = await fixture.user("ada");
    await rights.putRules(corp, rules, by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng"] } }, by);
    await controlStore.apply({ users: [{ email: "ada@example.com", workspaces: [] }] }, "file");
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false });
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng", "root"] } }, by);
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false });
    expect((await people.user(ada))?.disabled).toBe(false);
  });
}

function manualTests(make: () => Promise<RightsFixture>): void {
  test("keeps manually granted rights when a source revokes its own", async () => {
    await using fixture = await make();
    const { rights, people } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await rights.putRules(corp, rules, by);
    await people.setMember(fixture.acme, ada, "viewer", by);
    const applyGroups = (userId: string, ...groups: string[]) =>
      rights.applyClaims({ userId, source: corp, claims: { groups } }, by);
    await applyGroups(ada, "eng");
    expect(await rightsHeldBy(fixture, ada)).toMatchObject({ acme: "member" });
    await applyGroups(ada);
    expect(await rightsHeldBy(fixture, ada)).toMatchObject({ acme: "viewer" });

    await applyGroups(bob, "eng");
    await people.setMember(fixture.acme, bob, "admin", by);
    await applyGroups(bob, "eng", "leads");
    await applyGroups(bob);
    expect(await rightsHeldBy(fixture, bob)).toEqual({ administrator: false, acme: "admin" });
    await people.removeMember(fixture.acme, bob, { keys: null }, by);
    expect(await rightsHeldBy(fixture, bob)).toEqual({ administrator: false });
  });

  test("does not lower rights below a source's grant, and revokes higher manual rights with it", async () => {
    await using fixture = await make();
    const { rights, people } = fixture;
    const [ada, root] = [await fixture.user("ada"), await fixture.user("root")];
    await people.updateUser(root, { administrator: true }, by);
    await rights.putRules(corp, rules, by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng", "root"] } }, by);
    const conflict = { code: "conflict" };
    await expect(people.setMember(fixture.acme, ada, "viewer", by)).rejects.toMatchObject(conflict);
    await expect(people.removeMember(fixture.acme, ada, { keys: null }, by)).rejects.toMatchObject(conflict);
    await expect(people.updateUser(ada, { administrator: false }, by)).rejects.toMatchObject(conflict);
    await people.setMember(fixture.acme, ada, "owner", by);
    await people.setMember(fixture.acme, root, "owner", by);
    await people.setMember(fixture.acme, ada, "member", by);
    await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by);
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false });
  });
}

function lastTests(make: () => Promise<RightsFixture>): void {
  test("keeps the last administrator and the last owner with a notice, until there is another one", async () => {
    await using fixture = await make();
    const { rights, people } = fixture;
    const [ada, bob] = [await fixture.user("ada"), await fixture.user("bob")];
    await rights.putRules(corp, [...rules, group("eng", { workspace: "other", role: "owner", name: "all" })], by);
    await rights.applyClaims({ userId: ada, source: corp, claims: { groups: ["eng", "root"] } }, by);
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: true, acme: "member", other: "owner" });
    const notices = await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by);
    expect(notices).toEqual([
      expect.stringContaining("ada@example.com is the last administrator"),
      expect.stringContaining("the last owner of the workspace other"),
    ]);
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: true, other: "owner" });
    await people.updateUser(bob, { administrator: true }, by);
    await people.setMember(fixture.other, bob, "owner", by);
    expect(await rights.applyClaims({ userId: ada, source: corp, claims: {} }, by)).toEqual([]);
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false });
  });
}

function groupTests(make: () => Promise<RightsFixture>): void {
  test("moves the agents' key into the group that the rules name, unless an admin moved it", async () => {
    await using fixture = await make();
    const { rights, controlStore } = fixture;
    const ada = await fixture.user("ada");
    for (const name of ["gold", "silver"]) {
      await controlStore.addGroup(fixture.acme, { name }, by);
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
    const applyGroups = (...groups: string[]) =>
      rights.applyClaims({ userId: ada, source: corp, claims: { groups } }, by);
    await applyGroups("eng", "rich");
    await signAgentIn(fixture, ada);
    expect(await groupOf(fixture, ada)).toBe("gold");
    await applyGroups("eng");
    expect(await groupOf(fixture, ada)).toBe("silver");
    await move(fixture, ada, "default");
    await applyGroups("eng", "rich");
    expect(await groupOf(fixture, ada)).toBe("default");
    await move(fixture, ada, "gold");
    await applyGroups("eng");
    expect(await groupOf(fixture, ada)).toBe("silver");
    await rights.putRules(corp, [group("eng", { workspace: "acme", role: "member" })], by);
    await rights.reapplyAllRules();
    expect(await groupOf(fixture, ada)).toBe("default");
  });
}

function settleTests(make: () => Promise<RightsFixture>): void {
  test("revokes the rights of a deleted rule at once, and only those", async () => {
    await using fixture = await make();
    const { rights, people } = fixture;
    const userIds = await Promise.all(["a", "b", "c"].map((name) => fixture.user(name)));
    await rights.putRules(corp, rules, by);
    await people.setMember(fixture.other, userIds[0] ?? "", "viewer", by);
    for (const userId of userIds)
      await rights.applyClaims({ userId, source: corp, claims: { groups: ["eng", "leads"] } }, by);
    await rights.putRules(corp, rules.slice(0, 1), by);
    await rights.reapplyAllRules();
    const rightsAfter = await Promise.all(userIds.map((userId) => rightsHeldBy(fixture, userId)));
    expect(rightsAfter).toEqual([
      { administrator: false, acme: "member", other: "viewer" },
      { administrator: false, acme: "member" },
      { administrator: false, acme: "member" },
    ]);
    const rows = await auditRows(fixture);
    expect(rows.at(-1)).toMatchObject({ actor: "rules of single sign-on corp", action: "remove" });
    await rights.reapplyAllRules();
    expect(await auditRows(fixture)).toEqual(rows);
  });

  test("applies a rule for an unknown claim only after the source sends the claim, and revokes nothing before", async () => {
    await using fixture = await make();
    const { rights } = fixture;
    const ada = await fixture.user("ada");
    await rights.putRules(corp, rules, by);
    const claims = { groups: ["eng", "leads"], department: "R&D" };
    await rights.applyClaims({ userId: ada, source: corp, claims }, by);
    const byDepartment: RightsRule = { claim: "department", equals: "R&D", workspace: "acme", role: "admin" };
    await rights.putRules(corp, [byDepartment], by);
    await rights.reapplyAllRules();
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false, acme: "member" });
    await rights.applyClaims({ userId: ada, source: corp, claims }, by);
    expect(await rightsHeldBy(fixture, ada)).toEqual({ administrator: false, acme: "admin" });
  });

  test("changes nothing when claims are only tried", async () => {
    await using fixture = await make();
    const before = await auditRows(fixture);
    const trial = await fixture.rights.tryClaims(rules, { groups: ["eng", "root"] });
    expect(trial.administrator).toBe("root");
    expect(trial.places).toEqual([{ workspace: "acme", role: "member", group: null, rules: "eng" }]);
    expect(trial.findings.map(({ matched }) => matched)).toEqual([true, false, true]);
    expect(await auditRows(fixture)).toEqual(before);
  });
}

function propertyTests(make: () => Promise<RightsFixture>): void {
  test("computes rights from the latest claims and rules and from manual grants, whatever came before", async () => {
    await using fixture = await make();
    const { rights, people } = fixture;
    const root = await fixture.user("root");
    await people.updateUser(root, { administrator: true }, by);
    for (const workspaceId of [fixture.acme, fixture.other]) await people.setMember(workspaceId, root, "owner", by);
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
      fc.asyncProperty(manual, fc.array(turn, { minLength: 1, maxLength: 4 }), async (manualRoles, turns) => {
        const userId = await fixture.user(`u${count++}`);
        for (const place of places) {
          const manualRole = manualRoles[place];
          if (manualRole !== null) await people.setMember(fixture[place], userId, manualRole as "owner", by);
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
            [...all, manualRoles[place]].includes(each as "owner"),
          );
          if (highest !== undefined) expected[place] = highest;
        }
        expect(await rightsHeldBy(fixture, userId)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });
}

function refreshTests(make: () => Promise<RightsFixture>): void {
  test("encrypts an issuer's refresh token, lets one process check it, and ends agents and sessions when it is revoked", async () => {
    await using fixture = await make();
    const { rights, agents, database } = fixture;
    const ada = await fixture.user("ada");
    await rights.putRules(corp, rules, by);
    const claimsUpdate = { userId: ada, source: corp, claims: { groups: ["eng"] } } as const;
    await rights.applyClaims({ ...claimsUpdate, refreshToken: new Secret("canary-token") }, by);
    await signAgentIn(fixture, ada);
    const stored = await database.kysely.selectFrom("person_claims").selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain("canary-token");
    const [check] = await rights.issuerChecks(ada);
    if (check === undefined) throw new Error("there is no issuer check");
    expect(check.refreshToken.reveal()).toBe("canary-token");
    fixture.clock.advance(1_000);
    const checksBegun = await Promise.all([1, 2, 3].map(() => rights.beginIssuerCheck(ada, check)));
    expect(checksBegun.filter((one) => one)).toHaveLength(1);
    // Claims without a refresh token keep the stored one.
    await rights.applyClaims(claimsUpdate, by);
    expect(await rights.issuerChecks(ada)).toHaveLength(1);
    expect(await rights.revokeByIssuer(ada, { ...check, refreshToken: new Secret("an older one") }, by)).toBe(false);
    expect(await agents.sessions({ userId: ada })).toHaveLength(1);
    expect(await rights.revokeByIssuer(ada, check, by)).toBe(true);
    expect(await agents.sessions({ userId: ada })).toEqual([]);
    expect(await rights.issuerChecks(ada)).toEqual([]);
    expect((await auditRows(fixture)).at(-1)).toMatchObject({
      action: "sessions-ended",
      object: "user ada@example.com",
    });
    expect(await rightsHeldBy(fixture, ada)).toMatchObject({ acme: "member" });
  });
}
