import { expect, test } from "bun:test";
import { createControlStore, createRightsStore } from "#directory/index.ts";
import { kindDefaults } from "../../src/main/config-checks.ts";
import { openConsoleFixture } from "../console-fixture.ts";

const rules = [
  { claim: "groups", contains: "eng", workspace: "acme", role: "member", name: "engineers" },
  { claim: "department", equals: "Sales", workspace: "other", role: "viewer" },
];
const params = { source: "oidc:corp" };

async function open() {
  const notified: string[] = [];
  const fixture = await openConsoleFixture((gateway) => {
    const controlStore = createControlStore({ ...gateway, kindDefaults });
    const ledgerExport = { keys: null, copiedUntil: async () => null };
    return {
      controlStore,
      signIn: { useOidc: () => {} },
      changesSeen: async () => {},
      mailFrom: null,
      ledgerExport,
      rights: createRightsStore(gateway),
      onRevocationFailed: (problems: readonly string[]) => void notified.push(...problems),
    };
  });
  const account = {
    name: "Corp",
    issuer: "https://id.example.com",
    client_id: "sluice",
    client_secret: "a-client-secret",
    allowed_domains: [],
  };
  await fixture.call("administrator", "settings.putOidc", { params: { account: "corp" }, body: account });
  return fixture;
}

test("rules of a source are replaced as a whole, can be read back, and are in the audit log", async () => {
  await using fixture = await open();
  const put = await fixture.call("administrator", "rights.putRules", { params, body: { rules } });
  expect(put.body).toEqual({ rules, managed_by: "console" });
  expect((await fixture.call("administrator", "rights.rules", { params })).body).toEqual(put.body);
  const last = (await fixture.audit()).at(-1);
  expect(last).toMatchObject({ action: "create", object: "rights rules oidc:corp" });
});

test("rejects rules with missing, extra or unknown values, with the position", async () => {
  await using fixture = await open();
  const refused = async (rule: object) => {
    const answer = await fixture.call("administrator", "rights.putRules", {
      params,
      body: { rules: [rules[0], rule] },
    });
    return [answer.status, answer.param];
  };
  const match = { claim: "groups", contains: "x" };
  expect(await refused({ claim: "groups", workspace: "acme", role: "member" })).toEqual([400, "rules.1"]);
  expect(await refused({ ...match, equals: "y", administrator: true })).toEqual([400, "rules.1"]);
  expect(await refused(match)).toEqual([400, "rules.1"]);
  expect(await refused({ ...match, workspace: "acme" })).toEqual([400, "rules.1"]);
  expect(await refused({ ...match, administrator: true, workspace: "acme" })).toEqual([400, "rules.1"]);
  expect(await refused({ ...match, workspace: "gone", role: "viewer" })).toEqual([400, "rules.1.workspace"]);
  expect(await refused({ ...match, workspace: "acme", group: "gone" })).toEqual([400, "rules.1.group"]);
  const nowhere = await fixture.call("administrator", "rights.rules", { params: { source: "oidc:gone" } });
  expect(nowhere.status).toBe(404);
});

test("testing claims shows the result of each rule, stored or sent, and changes nothing", async () => {
  await using fixture = await open();
  await fixture.call("administrator", "rights.putRules", { params, body: { rules } });
  const before = (await fixture.audit()).length;
  const claims = { groups: ["eng"], department: "R&D" };
  const tried = await fixture.call("administrator", "rights.try", { params, body: { claims } });
  expect(tried.body).toEqual({
    administrator: null,
    places: [{ workspace: "acme", role: "member", group: null, rules: "engineers" }],
    findings: [
      {
        number: 1,
        name: "engineers",
        matched: true,
        gives: { administrator: false, role: "member", group: null },
        why: { code: "matches", params: { found: "eng" } },
      },
      {
        number: 2,
        name: null,
        matched: false,
        gives: { administrator: false, role: null, group: null },
        why: { code: "other_value", params: { claim: "department", found: "R&D" } },
      },
    ],
  });
  const other = [{ claim: "department", matches: "R*", administrator: true }];
  const body = { claims, rules: other };
  expect((await fixture.call("administrator", "rights.try", { params, body })).body).toMatchObject({
    administrator: "rule 1",
    places: [],
  });
  expect((await fixture.audit()).length).toBe(before);
});
