import { expect, test } from "bun:test";
import { ownMethods } from "./own-methods.ts";

const corp = { id: "corp", name: "Corp" };
const other = { id: "other", name: "Other" };
const all = { password: true, passkey: true, oidc: [corp, other] };
const connection = { id: "1", provider: "corp", name: "Corp", issuer: "https://corp.example", connected_at: 0 };

test("offers only the sign-in methods that the user has", () => {
  expect(ownMethods(all, { password: false, passkeys: 1, connections: [] })).toEqual({
    password: false,
    passkey: true,
    oidc: [],
  });
  expect(ownMethods(all, { password: false, passkeys: 0, connections: [connection] })).toEqual({
    password: false,
    passkey: false,
    oidc: [corp],
  });
  const bare = { ...all, password: false, oidc: [] };
  expect(ownMethods(bare, { password: true, passkeys: 1, connections: [connection] })).toEqual(bare);
});

test("all methods are offered if the user's methods are unknown or none would be left", () => {
  expect(ownMethods(all, undefined)).toEqual(all);
  expect(ownMethods(all, { password: false, passkeys: 0, connections: [] })).toEqual(all);
});
