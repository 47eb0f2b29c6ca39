import { expect, test } from "bun:test";
import { keyQuery } from "./key-query.ts";

test("what the address says and the gateway knows is asked for, the rest is left out", () => {
  const address = { search: "ci", state: "active", mine: "true", group: "grp_1", create: "1", workspace: "acme" };
  expect(keyQuery(address, true)).toEqual({ search: "ci", state: "active", mine: "true", group: "grp_1" });
  expect(keyQuery({ state: "sleeping", mine: "perhaps", search: "" }, true)).toEqual({});
});

test("a group is not asked for among all workspaces", () => {
  expect(keyQuery({ group: "grp_1" }, false)).toEqual({});
});
