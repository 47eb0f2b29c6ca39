import { expect, test } from "bun:test";
import { leaves } from "./leaves.ts";

test("leaving a page, tab or drawer leaves its form; a changed search parameter does not", () => {
  const here = { pathname: "/settings", search: { tab: "general", search: "a" } };
  expect(leaves(here, { ...here, pathname: "/models" }, [])).toBe(true);
  expect(leaves(here, { ...here, search: { tab: "users", search: "a" } }, [])).toBe(false);
  expect(leaves(here, { ...here, search: { tab: "users", search: "a" } }, ["tab"])).toBe(true);
  expect(leaves(here, { ...here, search: { tab: "general", search: "b" } }, ["tab"])).toBe(false);
  expect(leaves(here, { ...here, search: {} }, ["tab"])).toBe(true);
});
