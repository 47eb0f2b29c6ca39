import { expect, test } from "bun:test";
import { rehearsedChangeSchema } from "@sluice/contract";
import {
  emptyPolicy,
  policyBlockedBy,
  policyBodyOf,
  policyChangeOf,
  policyDraftOf,
  rehearsedPolicy,
} from "./policy-draft.ts";

const stored = {
  ...{ id: "bgt_1", name: "opus", workspace: null, inherited: false, enabled: true, managed_by: "console" as const },
  ...{ created_at: 0, limit: 15, used: 1, held: 0, exhausted: false, resets_at: null, counters: [] },
  budget: {
    ...{ usd: 10, period: "month" as const, time_zone: "Europe/Berlin", over: { fallback: "small" } },
    increase: { usd: 5, until: "2027-01-01T00:00:00.000Z", reason: "launch" },
  },
  match: { models: ["opus-*"], tags: { team: ["search", "ads"], app: "web" }, keys: ["key_1"] },
  split_by: "tag:team",
};

test("a form sends what was stored", () => {
  const draft = policyDraftOf(stored);
  expect(policyBlockedBy(draft)).toBeNull();
  expect(policyBodyOf(draft)).toEqual({
    ...{ name: "opus", enabled: true, split_by: "tag:team", ...stored.budget },
    match: { models: ["opus-*"], keys: ["key_1"], tags: { team: ["search", "ads"], app: ["web"] } },
  });
});

test("a change names what it removes, and a form without an amount or a name is not sent", () => {
  const draft = { ...policyDraftOf(stored), split: "", tags: [], match: {} };
  const budget = { usd: 10, period: "month" } as const;
  expect(policyChangeOf({ ...draft, budget })).toEqual({
    ...{ name: "opus", enabled: true, ...budget, over: "refuse", match: {} },
    ...{ time_zone: null, rolling: false, enforce: true, increase: null, split_by: null },
  });
  expect(policyBlockedBy(emptyPolicy)).not.toBeNull();
  expect(policyBlockedBy({ ...emptyPolicy, name: "one" })).not.toBeNull();
  expect(policyBlockedBy({ ...emptyPolicy, name: "one", budget })).toBeNull();
  expect(policyBlockedBy({ ...emptyPolicy, name: "one", budget, tags: ["team"] })).not.toBeNull();
  const increase = { usd: 3, until: "2027-01-01T00:00:00.000Z", reason: "" };
  expect(policyBlockedBy({ ...emptyPolicy, name: "one", budget: { ...budget, increase } })).not.toBeNull();
});

test("a new or changed policy becomes a change that the gateway accepts, under its stored name", () => {
  const draft = policyDraftOf(stored);
  const renamed = { ...draft, name: "renamed" };
  expect([draft, renamed].map((each) => rehearsedPolicy(each, stored, null))).toEqual([null, null]);
  const changed = { ...renamed, budget: { ...stored.budget, usd: 20 } };
  const budget = { ...policyChangeOf(changed), name: "opus", usd: 20 };
  expect(rehearsedPolicy(changed, stored, null)).toEqual({ budgets: [budget] });
  const ofAcme = rehearsedPolicy(draft, null, "acme");
  expect(ofAcme).toEqual({ workspaces: [{ slug: "acme", budgets: [{ ...policyChangeOf(draft), name: "opus" }] }] });
  const workspaces = { ...draft, match: { workspaces: ["ws_01KD"], people: ["user_1"] } };
  for (const change of [ofAcme, rehearsedPolicy(changed, stored, null), rehearsedPolicy(workspaces, stored, null)]) {
    expect(rehearsedChangeSchema.safeParse(change).error).toBeUndefined();
  }
});

test("an incomplete policy is not rehearsed, and disabling removes only an enabled one", () => {
  const draft = policyDraftOf(stored);
  const increase = { usd: 3, until: "", reason: "launch" };
  expect(rehearsedPolicy({ ...draft, budget: { ...stored.budget, increase } }, stored, null)).toBeNull();
  expect(rehearsedPolicy(emptyPolicy, null, "acme")).toBeNull();
  const off = { ...draft, enabled: false };
  expect(rehearsedPolicy(off, stored, null)).toEqual({ budgets: [{ name: "opus", enabled: false }] });
  expect(rehearsedPolicy(off, null, null)).toBeNull();
  expect(rehearsedPolicy(off, { ...stored, enabled: false }, null)).toBeNull();
  expect(rehearsedPolicy(draft, { ...stored, enabled: false }, null)).not.toBeNull();
});
