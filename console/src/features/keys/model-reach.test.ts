import { expect, test } from "bun:test";
import { type ReachableModel, reachOf } from "./model-reach.ts";

const models = ["gpt-5", "gpt-5-mini", "claude-opus", "llama"].map((name) => model(name));
const noBudget = { hasBudget: false };

function model(name: string, change: Partial<ReachableModel> = {}): ReachableModel {
  return { name, calls: "priced", fallbacks: [], ...change };
}

test("a model can be called if workspace, group and key allow it; otherwise the widest level that blocks it is named", () => {
  expect(
    reachOf(models, {
      ...noBudget,
      workspace: ["gpt-*", "claude-*"],
      group: ["*-mini", "claude-*"],
      own: ["gpt-*", "llama"],
    }),
  ).toEqual({
    callable: ["gpt-5-mini"],
    heldByWorkspace: ["llama"],
    heldByGroup: ["gpt-5"],
    unpriced: [],
    unserved: [],
  });
});

test("a key without patterns can call its group's models; with an empty list it can call none", () => {
  expect(reachOf(models, { ...noBudget, workspace: ["*"], group: ["gpt-*"], own: null }).callable).toEqual([
    "gpt-5",
    "gpt-5-mini",
  ]);
  expect(reachOf(models, { ...noBudget, workspace: ["*"], group: ["*"], own: [] })).toEqual({
    callable: [],
    heldByWorkspace: [],
    heldByGroup: [],
    unpriced: [],
    unserved: [],
  });
});

test("a model without a price cannot be called under a budget, and one without a deployment never", () => {
  const off = { enabled: false } as NonNullable<ReachableModel["deployments"]>[number];
  const all = [
    model("priced"),
    model("never", { calls: "blocked" }),
    model("free-without-budget", { calls: "blocked_in_budgets" }),
    model("off", { deployments: [off] }),
    model("off-with-fallback", { deployments: [off], fallbacks: ["priced"] }),
  ];
  const everything = { workspace: ["*"], group: ["*"], own: null };
  const rest = { heldByWorkspace: [], heldByGroup: [], unserved: ["off"] };
  expect(reachOf(all, { ...everything, hasBudget: false })).toEqual({
    ...rest,
    callable: ["priced", "free-without-budget", "off-with-fallback"],
    unpriced: ["never"],
  });
  expect(reachOf(all, { ...everything, hasBudget: true })).toEqual({
    ...rest,
    callable: ["priced", "off-with-fallback"],
    unpriced: ["never", "free-without-budget"],
  });
});
