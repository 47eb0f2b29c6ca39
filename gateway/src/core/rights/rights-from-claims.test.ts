import { expect, test } from "bun:test";
import type { RightsRule } from "@sluice/contract/config-file";
import { claimAt, claimsRead } from "./claim-values.ts";
import { rightsFromClaims } from "./rights-from-claims.ts";

const there = new Map([
  ["acme", new Set(["default", "gold"])],
  ["labs", new Set(["default"])],
]);

const codes = (rules: readonly RightsRule[], claims: Record<string, unknown>) =>
  rightsFromClaims(rules, claims, there).findings.map(({ why }) => why.code);

test("finds a claim by its path, also if its name contains dots", () => {
  const claims = {
    department: "R&D",
    realm_access: { roles: ["a", "b"] },
    "https://example.com/groups": ["x"],
    "a.b": { "c.d": 7 },
    empty: [],
    odd: { deep: true },
    list: [{ id: 1 }],
    __proto__: null,
  };
  expect(claimAt(claims, "department")).toEqual({ kind: "one", values: ["R&D"] });
  expect(claimAt(claims, "realm_access.roles")).toEqual({ kind: "list", values: ["a", "b"] });
  expect(claimAt(claims, "https://example.com/groups")).toEqual({ kind: "list", values: ["x"] });
  expect(claimAt(claims, "a.b.c.d")).toEqual({ kind: "one", values: ["7"] });
  expect(claimAt(claims, "empty")).toEqual({ kind: "list", values: [] });
  for (const path of ["odd", "list"]) expect(claimAt(claims, path)).toEqual({ kind: "not-plain" });
  for (const path of ["constructor", "realm_access.length", "department.length", "none.at.all"]) {
    expect(claimAt(claims, path)).toEqual({ kind: "missing" });
  }
  const many = `a${".a".repeat(60)}`;
  const nested = { a: { a: { a: { a: {} } } }, "a.a": { a: {} } };
  expect(claimAt(nested, many)).toEqual({ kind: "missing" });
});

test("a claim that the issuer omitted for its length is not a missing claim", () => {
  const overage = { _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://…" } } };
  const rules: RightsRule[] = [{ claim: "groups", contains: "x", workspace: "acme", role: "member" }];
  expect(codes(rules, overage)).toEqual(["left_out"]);
  expect(codes(rules, { hasgroups: true })).toEqual(["left_out"]);
  expect(codes(rules, {})).toEqual(["no_claim"]);
});

test("each kind of match explains why it does not apply", () => {
  const acme = { workspace: "acme", role: "member" } as const;
  const claims = { department: "R&D", level: 7, active: true, groups: ["eng-core", "all"], one: "all" };
  const rules: RightsRule[] = [
    { ...acme, claim: "department", equals: "R&D" },
    { ...acme, claim: "department", equals: "Sales" },
    { ...acme, claim: "level", equals: 7 },
    { ...acme, claim: "active", equals: true },
    { ...acme, claim: "level", one_of: ["6", "7"] },
    { ...acme, claim: "groups", equals: "all" },
    { ...acme, claim: "groups", contains: "all" },
    { ...acme, claim: "one", contains: "all" },
    { ...acme, claim: "groups", contains: "ALL" },
    { ...acme, claim: "groups", matches: "eng-*" },
    { ...acme, claim: "groups", matches: "*-c*e" },
    { ...acme, claim: "groups", matches: "eng" },
  ];
  expect(rules.map((rule) => codes([rule], claims)[0])).toEqual([
    "matches",
    "other_value",
    "matches",
    "matches",
    "matches",
    "is_list",
    "matches",
    "matches",
    "not_in_list",
    "matches",
    "matches",
    "not_in_list",
  ]);
});

test("per workspace, the first rule with a role decides the role, and the first with a group the group", () => {
  const rules: RightsRule[] = [
    { claim: "groups", contains: "contractors", workspace: "acme", role: "viewer", name: "contractors" },
    { claim: "groups", contains: "eng", workspace: "acme", role: "member", group: "gold" },
    { claim: "groups", contains: "eng", workspace: "labs", role: "admin" },
    { claim: "groups", contains: "eng", workspace: "acme", role: "owner" },
    { claim: "groups", contains: "ops", administrator: true, name: "ops" },
    { claim: "groups", contains: "eng", workspace: "gone", role: "owner" },
    { claim: "groups", contains: "eng", workspace: "labs", role: "owner", group: "gold" },
  ];
  const claimed = rightsFromClaims(rules, { groups: ["eng", "contractors", "ops"] }, there);
  expect(claimed.administrator).toBe("ops");
  expect(claimed.places).toEqual([
    { workspace: "acme", role: "viewer", group: "gold", rules: "contractors, rule 2" },
    { workspace: "labs", role: "admin", group: null, rules: "rule 3" },
  ]);
  expect(claimed.findings.map(({ matched, gives, why }) => [matched, gives.role, gives.group, why])).toEqual([
    [true, "viewer", null, { code: "matches", params: { found: "contractors" } }],
    [true, null, "gold", { code: "matches", params: { found: "eng" } }],
    [true, "admin", null, { code: "matches", params: { found: "eng" } }],
    [true, null, null, { code: "decided_before", params: { rule: 1 } }],
    [true, null, null, { code: "matches", params: { found: "ops" } }],
    [true, null, null, { code: "no_workspace", params: { workspace: "gone" } }],
    [true, null, null, { code: "no_group", params: { group: "gold", workspace: "labs" } }],
  ]);
});

test("the stored part of the claims gives the same rights, and contains only what rules read", () => {
  const rules: RightsRule[] = [
    { claim: "realm_access.roles", contains: "dev", workspace: "acme", role: "member" },
    { claim: "level", equals: 3, workspace: "labs", role: "viewer" },
    { claim: "none", equals: "x", administrator: true },
  ];
  const claims = { realm_access: { roles: ["dev"] }, level: 3, email: "ada@example.com", phone: "1" };
  const kept = claimsRead(claims, ["level", "none", "realm_access.roles"]);
  expect(kept).toEqual({ level: "3", none: null, "realm_access.roles": ["dev"] });
  expect(rightsFromClaims(rules, kept, there)).toEqual(rightsFromClaims(rules, claims, there));
});

test("matching a pattern with many stars against a long text stays fast", () => {
  const rule: RightsRule = { claim: "g", matches: "*a".repeat(128), workspace: "acme", role: "member" };
  expect(codes([rule], { g: `${"a".repeat(1_000)}b` })).toEqual(["other_value"]);
  expect(codes([rule], { g: "a".repeat(1_000) })).toEqual(["matches"]);
});
