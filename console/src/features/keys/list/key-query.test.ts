import { expect, test } from "bun:test";
import { keyQuery } from "./key-query.ts";

test("valid filters in the URL are sent, others are left out", () => {
  const address = { search: "ci", state: "active", mine: "true", group: "grp_1", create: "1", workspace: "acme" };
  expect(keyQuery(address, true)).toEqual({ search: "ci", state: "active", mine: "true", group: "grp_1" });
  expect(keyQuery({ state: "sleeping", mine: "perhaps", search: "" }, true)).toEqual({});
});

test("the group filter is not sent for all workspaces", () => {
  expect(keyQuery({ group: "grp_1" }, false)).toEqual({});
});
