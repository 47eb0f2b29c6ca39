import { expect, test } from "bun:test";
import type { ListedKey } from "@sluice/contract";
import { type BulkAction, type BulkInput, bulkBody, bulkPlan, undoSteps } from "./bulk-plan.ts";

const input: BulkInput = {
  ...{ owner: "usr_1", group: "grp_2", tagName: " team ", tagValue: "search" },
  limits: { rpm: 60 },
  budget: { usd: 5, period: "day" },
};

function key(id: string, change: Partial<ListedKey> = {}): ListedKey {
  const usual = {
    state: "active",
    enabled: true,
    managed_by: "console",
    revoked_at: null,
    owner: null,
    tags: {},
    limits: {},
    budget: null,
  };
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
  const limited = key("limited", { limits: { rpm: 60, fail: "open" }, budget: { usd: 5, period: "day" } });
  expect(planned("limits", [key("on"), limited])).toEqual([["on"], ["limited"], []]);
  expect(planned("budget", [key("on"), limited])).toEqual([["on"], ["limited"], []]);
  const shadow = key("shadow", {
    limits: { rpm: 60, enforce: false },
    budget: { usd: 5, period: "day", enforce: false },
  });
  expect(planned("limits", [shadow])).toEqual([["shadow"], [], []]);
  expect(planned("budget", [shadow])).toEqual([["shadow"], [], []]);
  expect(planned("tag", [key("on"), key("tagged", { tags: { team: "search" } })])).toEqual([["on"], ["tagged"], []]);
});

test("a body is sent only when the input is complete", () => {
  expect(bulkBody("tag", input)).toEqual({ changes: { add_tags: { team: "search" } } });
  expect(bulkBody("tag", { ...input, tagName: " " })).toBeNull();
  expect(bulkBody("group", { ...input, group: "" })).toBeNull();
  expect(bulkBody("transfer", { ...input, owner: null })).toEqual({ changes: { owner: null } });
  expect(bulkBody("revoke", input)).toEqual({ revoke: true });
});

test("undo restores each key as it was, with one change for all that were alike", () => {
  const gold = { id: "grp_3", name: "gold" };
  const keys = [key("a"), key("b", { group: gold, tags: { team: "old" }, limits: { tpm: 9 } }), key("c")];
  const undone = (action: BulkAction) =>
    undoSteps(action, keys, input).map(({ keys: some, body }) => [some.map(({ id }) => id), body.changes]);
  expect(undone("disable")).toEqual([[["a", "b", "c"], { enabled: true }]]);
  expect(undone("group")).toEqual([
    [["a", "c"], { group: "grp_1" }],
    [["b"], { group: "grp_3" }],
  ]);
  expect(undone("limits")).toEqual([
    [["a", "c"], { limits: { enforce: true } }],
    [["b"], { limits: { tpm: 9, enforce: true } }],
  ]);
  expect(undone("tag")).toEqual([
    [["a", "c"], { remove_tags: ["team"] }],
    [["b"], { add_tags: { team: "old" } }],
  ]);
  expect(undone("revoke")).toEqual([]);
});
