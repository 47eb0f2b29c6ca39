import { expect, test } from "bun:test";
import { judgeSoak, type SoakRow, servedUsage } from "./soak-judge.ts";

const good: SoakRow = {
  attemptId: "a",
  outcome: "succeeded",
  usageSource: "upstream",
  ...servedUsage,
  costNanoUsd: 5,
};
const clean = { missing: 0, doubled: 0, wrongTokens: 0, invented: 0, examples: [] };

test("a ledger with each attempt once and correct usage is clean", () => {
  const left: SoakRow = { ...good, attemptId: "b", outcome: "cancelled", usageSource: "estimated", output: 3 };
  expect(judgeSoak(["a", "b"], [left, good])).toEqual({ seen: 2, ...clean });
});

test("an attempt that never reached the upstream is clean if it cost nothing", () => {
  const unsent: SoakRow = { ...good, outcome: "failed", usageSource: "none", input: 0, output: 0, costNanoUsd: 0 };
  expect(judgeSoak([], [unsent])).toEqual({ seen: 0, ...clean });
  expect(judgeSoak([], [good])).toMatchObject({ invented: 1 });
});

test("reports missing, duplicate and wrong attempts", () => {
  expect(judgeSoak(["a", "b"], [good])).toMatchObject({ missing: 1, examples: [expect.stringContaining("b ")] });
  expect(judgeSoak(["a"], [good, good])).toMatchObject({ doubled: 1 });
  expect(judgeSoak(["a", "a"], [good])).toMatchObject({ doubled: 1 });
  expect(judgeSoak(["a"], [{ ...good, output: 119 }])).toMatchObject({ wrongTokens: 1 });
  expect(judgeSoak(["a"], [{ ...good, usageSource: "estimated" }])).toMatchObject({ wrongTokens: 1 });
});
