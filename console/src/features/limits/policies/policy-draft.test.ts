import { expect, test } from "bun:test";
import { emptyPolicy, policyBlockedBy, policyBodyOf, policyChangeOf, policyDraftOf } from "./policy-draft.ts";

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
