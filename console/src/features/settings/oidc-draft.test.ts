import { expect, test } from "bun:test";
import { oidcAccountSchema } from "@sluice/contract";
import { blockedBy, bodyOf, callbackUrl, domainsOf, draftOf, idProblem } from "./oidc-draft.ts";

const account = {
  id: "corp",
  name: "Corp",
  issuer: "https://id.example.com",
  client_id: "sluice",
  allowed_domains: ["example.com"],
  second_factor_trusted: false,
  has_secret: true,
  callback_url: "https://gateway.example/api/auth/callback/corp",
};

test("a stored secret stays unless another is given, and is needed again when the issuer changes", () => {
  const draft = draftOf(account);
  expect(blockedBy(draft, account, [account])).toBeNull();
  expect(bodyOf(draft)).not.toHaveProperty("client_secret");
  const moved = { ...draft, issuer: "https://other.example.com" };
  expect(blockedBy(moved, account, [account])).toContain("client secret");
  expect(bodyOf({ ...moved, clientSecret: "s" })).toHaveProperty("client_secret", "s");
});

test("a new account needs an id that is free and can stand in an address", () => {
  const draft = { ...draftOf(account), clientSecret: "s" };
  expect(blockedBy(draft, null, [account])).toContain("already");
  expect(blockedBy({ ...draft, id: "a b" }, null, [])).toContain("Lower-case");
  expect(callbackUrl("https://gateway.example/", "../x")).toBeNull();
  expect(callbackUrl("https://gateway.example/", "corp")).toBe(account.callback_url);
});

test("the form takes the ids that the gateway takes, and no others", () => {
  const { id: schema } = oidcAccountSchema.shape;
  for (const id of ["a", "corp-2", "-corp", "Corp", "a b", "../x", "", "x".repeat(32), "x".repeat(33)]) {
    expect(idProblem(id, null, []) === null, id).toBe(schema.safeParse(id).success);
  }
});

test("domains are taken as people write them", () => {
  expect(domainsOf(["@Example.com, corp.example,", "corp.example"])).toEqual(["example.com", "corp.example"]);
});
