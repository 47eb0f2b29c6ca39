import { expect, test } from "bun:test";
import { reachOf } from "./model-reach.ts";

const names = ["gpt-5", "gpt-5-mini", "claude-opus", "llama"];

test("a model can be called if workspace, group and key allow it; otherwise the widest level that blocks it is named", () => {
  expect(
    reachOf(names, { workspace: ["gpt-*", "claude-*"], group: ["*-mini", "claude-*"], own: ["gpt-*", "llama"] }),
  ).toEqual({
    callable: ["gpt-5-mini"],
    heldByWorkspace: ["llama"],
    heldByGroup: ["gpt-5"],
  });
});

test("a key without patterns can call its group's models; with an empty list it can call none", () => {
  expect(reachOf(names, { workspace: ["*"], group: ["gpt-*"], own: null }).callable).toEqual(["gpt-5", "gpt-5-mini"]);
  expect(reachOf(names, { workspace: ["*"], group: ["*"], own: [] })).toEqual({
    callable: [],
    heldByWorkspace: [],
    heldByGroup: [],
  });
});
