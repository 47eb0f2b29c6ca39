import { expect, test } from "bun:test";
import { oidcAccountSchema } from "@sluice/contract";
import { bodyOf, callbackUrl, domainsOf, draftOf, faultsOf, idProblem } from "./oidc-draft.ts";

const account = {
  id: "corp",
  name: "Corp",
  issuer: "https://id.example.com",
  client_id: "sluice",
  allowed_domains: ["example.com"],
  second_factor_trusted: false,
  scopes: [],
  offline_access: false,
  recheck_minutes: 15,
  grace_hours: 24,
  directory_claim: null,
  has_secret: true,
  suspended: false,
  callback_url: "https://gateway.example/api/auth/callback/corp",
};

test("a stored secret stays unless another is given, and is needed again when the issuer changes", () => {
  const draft = draftOf(account);
  expect(faultsOf(draft, account, [account])).toEqual({});
  expect(bodyOf(draft)).not.toHaveProperty("client_secret");
  const moved = { ...draft, issuer: "https://other.example.com" };
  expect(faultsOf(moved, account, [account])).toEqual({ client_secret: "Enter the client secret." });
  expect(bodyOf({ ...moved, clientSecret: "s" })).toHaveProperty("client_secret", "s");
});

test("a new account needs a unique ID that is valid in a URL", () => {
  const draft = { ...draftOf(account), clientSecret: "s" };
  expect(faultsOf(draft, null, [account])).toEqual({ account: "This ID is already in use." });
  expect(faultsOf({ ...draft, id: "a b" }, null, [])["account"]).toContain("Lowercase");
  const wrong = faultsOf(draftOf(null), null, []);
  expect(Object.keys(wrong)).toEqual(["name", "account", "issuer", "client_id", "client_secret"]);
  expect(callbackUrl("https://gateway.example/", "../x")).toBeNull();
  expect(callbackUrl("https://gateway.example/", "corp")).toBe(account.callback_url);
});

test("the form accepts exactly the ids that the gateway accepts", () => {
  const { id: schema } = oidcAccountSchema.shape;
  for (const id of ["a", "corp-2", "-corp", "Corp", "a b", "../x", "", "x".repeat(32), "x".repeat(33)]) {
    expect(idProblem(id, null, []) === null, id).toBe(schema.safeParse(id).success);
  }
});

test("domains are accepted in the forms that people write", () => {
  expect(domainsOf(["@Example.com, corp.example,", "corp.example"])).toEqual(["example.com", "corp.example"]);
});

test("the interval for checks with the issuer is sent within the gateway's bounds", () => {
  const { recheck_minutes, grace_hours } = oidcAccountSchema.shape;
  const draft = { ...draftOf(account), offlineAccess: true };
  for (const typed of [-1, 0, 4, 5, 7.5, 720, 721, 1_440, 1_441]) {
    const faults = faultsOf({ ...draft, recheckMinutes: typed, graceHours: typed }, account, [account]);
    expect("recheck_minutes" in faults, String(typed)).toBe(!recheck_minutes.safeParse(typed).success);
    expect("grace_hours" in faults, String(typed)).toBe(!grace_hours.safeParse(typed).success);
  }
  expect(faultsOf({ ...draft, graceHours: "" }, account, [account])).toHaveProperty("grace_hours");
  // Without checks the fields are hidden, so their errors must not block the form.
  const hidden = { ...draft, offlineAccess: false, graceHours: "" as const, recheckMinutes: 1 };
  expect(faultsOf(hidden, account, [account])).toEqual({});
  expect(Object.keys(bodyOf(hidden))).not.toContain("recheck_minutes");
  expect(bodyOf(draft).directory_claim).toBeNull();
  expect(bodyOf({ ...draft, directoryClaim: " oid " }).directory_claim).toBe("oid");
  expect(bodyOf({ ...draft, scopes: ["groups"] })).toMatchObject({
    scopes: ["groups"],
    offline_access: true,
    recheck_minutes: 15,
    grace_hours: 24,
  });
});
