import { expect, test } from "bun:test";
import { decisionsOf, relationOf } from "./leaver-decisions.ts";

const workspace = (slug: string) => ({ id: `ws_${slug}`, slug });
const keys = [
  { id: "key_1", workspace: workspace("acme") },
  { id: "key_2", workspace: workspace("acme") },
  { id: "key_3", workspace: workspace("other") },
];
const heirs = new Map([["acme", "usr_1"]]);

test("decides about every key by its id, grouped by action", () => {
  const actions = new Map([
    ["key_1", "transfer"],
    ["key_2", "revoke"],
    ["key_3", "revoke"],
  ] as const);
  expect(decisionsOf(keys, actions, heirs)).toEqual([
    { action: { hand_over_to: "usr_1" }, keys: ["key_1"] },
    { action: "revoke", keys: ["key_2", "key_3"] },
  ]);
});

test("is incomplete while a key has no action, or a transferred one no new owner in its workspace", () => {
  expect(decisionsOf(keys, new Map([["key_1", "disable"]] as const), heirs)).toBeNull();
  const transferred = new Map(keys.map(({ id }) => [id, "transfer"] as const));
  expect(decisionsOf(keys, transferred, heirs)).toBeNull();
});

test("names how a key belongs to a person", () => {
  const ada = { id: "usr_1", email: "ada@example.com", name: "Ada" };
  const other = { ...ada, id: "usr_2" };
  expect(relationOf({ created_by: ada, owner: ada }, ada.id)).toBe("both");
  expect(relationOf({ created_by: ada, owner: other }, ada.id)).toBe("created");
  expect(relationOf({ created_by: other, owner: ada }, ada.id)).toBe("owned");
});
