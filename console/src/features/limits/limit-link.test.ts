import { expect, test } from "bun:test";
import { limitLink, objectIn, policyLink, raisedLimit } from "./limit-link.ts";

test("a link names the object and the limit to edit, and the page finds them again", () => {
  const { search } = limitLink({ scope: "person", scope_id: "user_1", kind: "rpm" }, "acme", 90);
  expect(search).toEqual({ workspace: "acme", object: "person:user_1", edit: "rpm", to: "90" });
  expect(objectIn(search as never)).toEqual({ scope: "person", scope_id: "user_1" });
  for (const object of ["", "key", "key:", "planet:1"]) expect(objectIn({ object })).toBeNull();
  expect(policyLink("bgt_1", "-").search as object).toEqual({ workspace: "-", budget: "bgt_1" });
});

test("proposes half as much again, and always more than before", () => {
  expect(raisedLimit("budget", 10, 10)).toBe(15);
  expect(raisedLimit("budget", 0.01, 0.0794)).toBe(0.12);
  expect(raisedLimit("budget", 0, null)).toBe(1);
  expect(raisedLimit("rpm", 60, 60)).toBe(90);
  expect(raisedLimit("concurrency", 1, 1)).toBe(2);
  expect(raisedLimit("tpm", 123_456, 99)).toBe(190_000);
});
