import { expect, test } from "bun:test";
import type { ListedKey } from "@sluice/contract";
import { type BulkAction, bulkBody, bulkPlan } from "./bulk-plan.ts";

const input = { owner: "usr_1", group: "grp_2", tagName: " team ", tagValue: "search" };

function key(id: string, change: Partial<ListedKey> = {}): ListedKey {
  const usual = { state: "active", enabled: true, managed_by: "console", revoked_at: null, owner: null, tags: {} };
  return { id, group: { id: "grp_1", name: "default" }, ...usual, ...change } as ListedKey;
}

function planned(action: BulkAction, keys: readonly ListedKey[]) {
  const plan = bulkPlan(action, keys, input);
  const ids = (of: readonly ListedKey[]) => of.map(({ id }) => id);
  return [ids(plan.changes), ids(plan.unchanged), ids(plan.fixed)];
}

test("an action separates keys to change, keys without a change, and fixed keys", () => {
  const off = key("off", { enabled: false, state: "disabled" });
  const file = key("file", { managed_by: "file" });
  const revoked = key("revoked", { state: "revoked", revoked_at: 1 });
  const all = [key("on"), off, file, revoked];
  expect(planned("disable", all)).toEqual([["on"], ["off"], ["file", "revoked"]]);
  expect(planned("enable", all)).toEqual([["off"], ["on"], ["file", "revoked"]]);
  expect(planned("revoke", all)).toEqual([["on", "off"], ["revoked"], ["file"]]);
  const owned = key("owned", { owner: { id: "usr_1", email: "", name: "" } });
  expect(planned("transfer", [key("on"), owned])).toEqual([["on"], ["owned"], []]);
  expect(planned("tag", [key("on"), key("tagged", { tags: { team: "search" } })])).toEqual([["on"], ["tagged"], []]);
});

test("a body is sent only when the input is complete", () => {
  expect(bulkBody("tag", input)).toEqual({ changes: { add_tags: { team: "search" } } });
  expect(bulkBody("tag", { ...input, tagName: " " })).toBeNull();
  expect(bulkBody("group", { ...input, group: "" })).toBeNull();
  expect(bulkBody("transfer", { ...input, owner: null })).toEqual({ changes: { owner: null } });
  expect(bulkBody("revoke", input)).toEqual({ revoke: true });
});
